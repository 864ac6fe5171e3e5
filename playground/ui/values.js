// The charts in words: a table of what every arm has at the crosshair, and what is said to who moves it by keys;
// read before charts.js.

function buildValues() {
  return h("details", { class: "values", ontoggle: fillValues },
    h("summary", {}, words.values), h("div", { class: "wide", tabindex: "0" }));
}

// One row for each arm, one column for each chart; the newest values where nobody points at a step.
function fillValues() {
  const box = root.querySelector(".values");
  if (!box.open || !data) return;
  const at = hoverX === null ? words.values_newest : `${data.x.label} ${readable(hoverX, 6)}`;
  const heads = plots.map(({ panel }) => h("th", { scope: "col" }, `${panel.title}, ${panel.unit}`));
  const rows = data.arms.filter((arm) => !hidden.has(arm.id)).map((arm) =>
    h("tr", {}, h("th", { scope: "row" }, arm.label), ...plots.map((plot) => h("td", {}, valueOf(plot, arm)))));
  box.querySelector(".wide").replaceChildren(
    h("table", { class: "facts" }, h("caption", {}, at), h("thead", {}, h("tr", {}, h("td", {}), ...heads)), h("tbody", {}, ...rows)));
}

function valueOf(plot, arm) {
  const lines = shown(plot.panel).filter((line) => line.arm === arm.id);
  if (hoverX !== null && plot.scale) {
    const row = readArm(plot.panel, arm, lines, plot.scale);
    const peak = row?.peak ? [words.peak.replace("{value}", readable(row.peak, 4, true))] : [];
    return [readable(row?.mean ?? null, 4, true), ...peak, ...(row?.marks ?? [])].join(", ");
  }
  const newest = lines.map((line) => line.y[lastPoint(line)]).filter((y) => y !== undefined);
  return newest.length ? readable(average(newest), 4, true) : words.missing;
}

// What the readout of a chart shows, for a screen reader.
function say(plot) {
  const parts = [...plot.tip.children].map((row) => [...row.children].map((part) => part.textContent).filter(Boolean).join(" ") || row.textContent);
  root.querySelector(".said").textContent = plot.tip.hidden ? "" : parts.join("; ");
}
