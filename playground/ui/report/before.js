// What Gradio gives the charts' scripts on the page, given by the file itself.
const given = JSON.parse(document.getElementById("given").textContent);
const words = given.words;
const element = document.getElementById("charts");
const props = { value: given.charts };
const watch = () => {};
const server = { totals: async () => given.totals };
