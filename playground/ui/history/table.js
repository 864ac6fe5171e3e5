// The list of earlier comparisons: what is clicked in it is told to Python; what is ticked stays in
// the browser, so that it outlives another page of the list and another filter.
// Runs once with `element`, `trigger` and `watch` from gr.HTML, and `words` from text/history.py.

const MOST = 8;
const ticked = new Set();

function settle() {
  const bar = element.querySelector(".ticked");
  for (const run of (bar?.dataset.gone ?? "").split(",")) ticked.delete(run);
  for (const box of element.querySelectorAll("input[data-run]")) {
    box.checked = ticked.has(box.dataset.run);
    box.disabled = !box.checked && ticked.size >= MOST;
  }
  if (!bar) return;
  const said = ticked.size ? (ticked.size === 1 ? words.one : words.several) : words.none;
  bar.textContent = `${said.replace("{count}", ticked.size)} `;
  if (ticked.size > 1) {
    const link = document.createElement("a");
    link.href = `?page=history&runs=${[...ticked].join(",")}`;
    link.textContent = words.lay;
    bar.append(link, " ");
  }
  if (ticked.size) {
    const clear = document.createElement("button");
    clear.type = "button";
    clear.textContent = words.clear;
    clear.onclick = () => { ticked.clear(); settle(); };
    bar.append(clear);
  }
}

element.addEventListener("change", (event) => {
  const run = event.target.dataset.run;
  if (!run) return;
  if (event.target.checked) ticked.add(run);
  else ticked.delete(run);
  settle();
});

element.addEventListener("click", (event) => {
  const asked = event.target.closest("[data-sort], [data-open], [data-page]");
  if (asked && !asked.disabled) trigger("select", { ...asked.dataset });
});

watch("value", settle);
settle();
