// Draws the live charts: one SVG per metric, every arm over the others, one shared x-axis.
// Runs once per page with `element`, `props` and `watch` from gr.HTML, and with `words` from text.py.
// Python sends plain data (see charts.py); zoom, hover, log scale and hidden arms live here, so new data never resets them.

const SVG = "http://www.w3.org/2000/svg";
const MARGIN = { top: 10, right: 14, bottom: 24, left: 52 };
const root = element.querySelector(".charts");

let data = null; // the last payload
let zoom = null; // [from, to] in x units, or null for everything
let hoverX = null; // x of the crosshair, snapped to a point that exists
let drag = null; // {from, to} while a range is being dragged
let logLoss = false;
let legendFor = ""; // the arms that the legend shows
let finer = null; // {range, panels}: every step inside the zoom, where the payload has them thinned
const hidden = new Set(); // arms switched off in the legend
let plots = []; // one per panel: {panel, figure, svg, tip, scale}

function h(tag, attributes = {}, ...children) {
  const svg = ["svg", "g", "path", "line", "circle", "rect", "text", "title", "clipPath", "defs"];
  const node = svg.includes(tag) ? document.createElementNS(SVG, tag) : document.createElement(tag);
  for (const [key, value] of Object.entries(attributes)) {
    if (value === null || value === undefined || value === false) continue;
    if (key.startsWith("on")) node.addEventListener(key.slice(2), value);
    else node.setAttribute(key, value === true ? "" : value);
  }
  node.append(...children); // strings become text nodes, so nothing a person typed is markup
  return node;
}

// Scales.

function shown(panel) {
  const lines = finer?.range === zoom && zoom ? finer.panels[panel.key] : panel.lines;
  return lines.filter((line) => !hidden.has(line.arm));
}

function xDomain() {
  return zoom ?? data.x.domain;
}

function yDomain(panel, log) {
  const [from, to] = xDomain();
  let low = Infinity;
  let high = -Infinity;
  const take = (y) => {
    if (y === null || (log && y <= 0)) return;
    low = Math.min(low, y);
    high = Math.max(high, y);
  };
  for (const line of shown(panel)) {
    for (let i = 0; i < line.x.length; i++) {
      if (line.x[i] >= from && line.x[i] <= to) take(line.y[i]);
    }
  }
  for (const point of panel.points) {
    if (!hidden.has(point.arm) && point.x >= from && point.x <= to) take(point.y);
  }
  if (low > high) return null;
  if (log) return [low / 1.1, high * 1.1];
  // A difference looks as large as it is; who zooms in asks for a closer look.
  if (panel.from_zero && !(panel.key === "loss" && zoom)) return [0, high * 1.12 || 1];
  const room = (high - low || Math.abs(high) || 1) * 0.06;
  return [Math.max(low - room, low >= 0 ? 0 : -Infinity), high + room];
}

function makeScale(plot) {
  const log = logLoss && plot.panel.key === "loss";
  const width = Math.max(plot.box.clientWidth, 120);
  const height = plot.box.clientHeight;
  const [x0, x1] = xDomain();
  const range = yDomain(plot.panel, log);
  const [y0, y1] = range ?? [0, 1];
  const inner = [MARGIN.left, width - MARGIN.right, height - MARGIN.bottom, MARGIN.top];
  const bend = log ? Math.log10 : (v) => v;
  return {
    width, height, log, x0, x1, y0, y1, inner, empty: !range,
    x: (v) => inner[0] + ((v - x0) / (x1 - x0 || 1)) * (inner[1] - inner[0]),
    y: (v) => inner[2] - ((bend(v) - bend(y0)) / (bend(y1) - bend(y0) || 1)) * (inner[2] - inner[3]),
    back: (px) => x0 + ((px - inner[0]) / (inner[1] - inner[0])) * (x1 - x0),
  };
}

// Drawing.

function drawAxes(svg, plot, scale) {
  const [left, right, bottom, top] = scale.inner;
  const rows = Math.max(2, Math.floor((bottom - top) / 34));
  const yTicks = scale.log ? logTicks(scale.y0, scale.y1) : niceTicks(scale.y0, scale.y1, rows);
  for (const tick of scale.empty ? [] : yTicks) {
    const y = scale.y(tick).toFixed(1);
    svg.append(h("line", { class: "grid", x1: left, x2: right, y1: y, y2: y }));
    svg.append(h("text", { class: "tick", x: left - 8, y, dy: "0.32em", "text-anchor": "end" }, readable(tick, 3)));
  }
  const columns = Math.max(2, Math.floor((right - left) / 80));
  for (const tick of niceTicks(scale.x0, scale.x1, columns)) {
    if (data.x.whole && !Number.isInteger(+tick.toFixed(6))) continue;
    const x = scale.x(tick).toFixed(1);
    svg.append(h("text", { class: "tick", x, y: bottom + 16, "text-anchor": "middle" }, readable(tick, 6)));
    svg.append(h("line", { class: "notch", x1: x, x2: x, y1: bottom, y2: bottom + 4 }));
  }
  svg.append(h("text", { class: "tick", x: left - 8, y: bottom + 16, "text-anchor": "end" }, data.x.label));
  svg.append(h("line", { class: "axis", x1: left, x2: right, y1: bottom, y2: bottom }));
}

function drawMark(layer, scale, line, [x, kind]) {
  const at = scale.x(x);
  const name = `${line.label}, ${data.x.label} ${readable(x, 6)}: ${words.marks[kind] ?? kind}`;
  const [, , bottom, top] = scale.inner;
  const shape =
    kind === "skipped update"
      ? h("path", { d: `M${at} ${bottom - 1}l-4 -7h8z`, class: "mark-skip" })
      : h("path", { d: `M${at - 5} ${top + 1}l10 10m0 -10l-10 10`, class: "mark-nan" });
  const group = h("g", { class: `mark arm-${line.colour}`, "data-kind": kind }, h("title", {}, name), shape);
  if (kind !== "skipped update") {
    group.prepend(h("line", { class: "mark-stem", x1: at, x2: at, y1: top + 11, y2: bottom }));
  }
  layer.append(group);
}

function drawPlot(plot) {
  if (!plot.box.clientWidth) return; // not on screen yet; the observer calls again
  const scale = (plot.scale = makeScale(plot));
  const svg = plot.svg;
  svg.replaceChildren();
  svg.setAttribute("viewBox", `0 0 ${scale.width} ${scale.height}`);
  svg.setAttribute("aria-label", describe(plot.panel));
  drawAxes(svg, plot, scale);
  const [left, right, bottom, top] = scale.inner;
  const clip = `clip-${plot.panel.key}-${plot.uid}`;
  svg.append(
    h("defs", {}, h("clipPath", { id: clip }, h("rect", { x: left - 6, y: top - 4, width: right - left + 12, height: bottom - top + 8 })))
  );
  const layer = h("g", { "clip-path": `url(#${clip})` });
  const lines = shown(plot.panel);
  for (const line of lines) {
    layer.append(h("path", { class: `line arm-${line.colour}`, d: linePath(line, scale), "data-arm": line.arm }));
  }
  const shares = turns(lines, scale);
  for (const [i, line] of lines.entries()) {
    const own = lines.length > 1 ? ownPath(line, scale, shares[i]) : "";
    if (own) layer.append(h("path", { class: `turn arm-${line.colour}`, d: own }));
    for (const at of lonely(line)) layer.append(dot(scale, line, at, 3));
    const last = lastPoint(line);
    if (last >= 0 && line.live) layer.append(dot(scale, line, last, 3.5, "live"));
    for (const mark of line.marks) {
      if (mark[0] >= scale.x0 && mark[0] <= scale.x1) drawMark(layer, scale, line, mark);
    }
  }
  const points = plot.panel.points.filter((p) => !hidden.has(p.arm) && !(scale.log && p.y <= 0));
  const places = apart(points, scale);
  for (const [i, point] of points.entries()) {
    const [x, y] = places[i];
    const name = h("title", {}, point.title);
    layer.append(h("path", { class: `eval arm-${point.colour}`, d: `M${x} ${y - 5}l5 5l-5 5l-5 -5z` }, name));
  }
  svg.append(layer);
  if (scale.empty) {
    const middle = { x: (left + right) / 2, y: (top + bottom) / 2, "text-anchor": "middle" };
    svg.append(h("text", { class: "nothing", ...middle }, plot.panel.empty));
  }
  plot.overlay = h("g", { class: "overlay" });
  svg.append(plot.overlay);
  drawOverlay(plot);
}

function dot(scale, line, i, r, extra = "") {
  return h("circle", { class: `dot ${extra} arm-${line.colour}`, cx: scale.x(line.x[i]), cy: scale.y(line.y[i]), r });
}

// Crosshair, values at it, and the range being dragged.
function drawOverlay(plot) {
  const { scale, overlay, tip } = plot;
  if (!scale) return;
  overlay.replaceChildren();
  const [left, right, bottom, top] = scale.inner;
  if (drag) {
    const [a, b] = [scale.x(drag.from), scale.x(drag.to)].map((v) => Math.min(Math.max(v, left), right));
    overlay.append(h("rect", { class: "brush", x: Math.min(a, b), width: Math.abs(b - a), y: top, height: bottom - top }));
  }
  const rows = [];
  if (hoverX !== null && hoverX >= scale.x0 && hoverX <= scale.x1) {
    const at = scale.x(hoverX);
    overlay.append(h("line", { class: "cross", x1: at, x2: at, y1: top, y2: bottom }));
    for (const line of shown(plot.panel)) {
      if (!line.x.length) continue;
      const i = nearest(line.x, hoverX);
      if (Math.abs(scale.x(line.x[i]) - at) > 6) continue;
      if (line.y[i] !== null && !(scale.log && line.y[i] <= 0)) overlay.append(dot(scale, line, i, 4));
      const mark = line.marks.find(([x]) => x === line.x[i]);
      rows.push({ line, value: line.y[i], mark: mark && (words.marks[mark[1]] ?? mark[1]) });
    }
    for (const point of plot.panel.points) {
      if (point.x !== hoverX || hidden.has(point.arm)) continue;
      const line = { colour: point.colour, label: words.held_out.replace("{label}", point.label) };
      rows.push({ line, value: point.y, point: true });
    }
  }
  tip.hidden = rows.length === 0 || drag !== null;
  if (tip.hidden) return;
  tip.replaceChildren(
    h("div", { class: "tip-head" }, `${data.x.label} ${readable(hoverX, 6)}`),
    ...rows.map(({ line, value, mark, point }) =>
      h("div", { class: `tip-row arm-${line.colour}` },
        h("i", { class: point ? "swatch is-point" : "swatch" }),
        h("span", {}, line.label),
        h("b", {}, value === null && mark ? mark : readable(value, 4, true)),
        value !== null && mark ? h("em", {}, mark) : "")
    )
  );
  const at = scale.x(hoverX);
  const width = tip.offsetWidth;
  tip.style.left = `${at + width + 16 > scale.width ? Math.max(at - width - 10, 0) : at + 10}px`;
}

function describe(panel) {
  const parts = shown(panel).map((line) => {
    const last = lastPoint(line);
    return last < 0
      ? `${line.label}: ${words.no_points}`
      : `${line.label}: ${readable(line.y[last])} ${panel.unit}, ${data.x.label} ${readable(line.x[last], 6)}`;
  });
  return `${panel.title}. ${parts.join("; ")}. ${words.keys}`;
}

// What a person does.

function setZoom(range) {
  const full = data.x.domain;
  if (range) {
    const least = data.x.whole ? 2 : (full[1] - full[0]) / 1000;
    let [from, to] = range[0] < range[1] ? range : [range[1], range[0]];
    if (to - from < least) [from, to] = [(from + to - least) / 2, (from + to + least) / 2];
    [from, to] = [Math.max(from, full[0]), Math.min(to, full[1])];
    range = from <= full[0] && to >= full[1] ? null : [from, to];
  }
  zoom = range;
  root.dataset.zoom = zoom ? zoom.map((v) => v.toFixed(2)).join(",") : "";
  root.querySelector(".reset").hidden = !zoom;
  redraw();
  refine();
}

// A long run comes thinned. Where a person zooms in, the steps in between are asked for.
async function refine() {
  if (!zoom || !data.thinned) return;
  const range = zoom;
  let panels;
  try {
    panels = await server.detail([data.group, Math.floor(range[0]), Math.ceil(range[1])]);
  } catch {
    return; // the server is away, and Gradio says so; the thinned line stays
  }
  if (zoom !== range || !data.panels.every(({ key }) => panels[key])) return;
  finer = { range, panels };
  root.dataset.finer = panels.loss.map((line) => line.x.length).join(",");
  redraw();
}

function snap(x) {
  let best = null;
  const take = (found) => {
    if (best === null || Math.abs(found - x) < Math.abs(best - x)) best = found;
  };
  for (const { panel } of plots) {
    for (const line of shown(panel)) if (line.x.length) take(line.x[nearest(line.x, x)]);
    for (const point of panel.points) if (!hidden.has(point.arm)) take(point.x);
  }
  return best;
}

function overlays() {
  for (const plot of plots) drawOverlay(plot);
}

function listen(plot) {
  const { svg } = plot;
  const at = (event) => {
    const edge = svg.getBoundingClientRect();
    return plot.scale.back(event.clientX - edge.left);
  };
  svg.addEventListener("pointermove", (event) => {
    if (!plot.scale) return;
    if (drag) drag.to = at(event);
    hoverX = snap(at(event));
    overlays();
  });
  svg.addEventListener("pointerleave", () => {
    if (drag) return;
    hoverX = null;
    overlays();
  });
  svg.addEventListener("pointerdown", (event) => {
    if (event.button !== 0 || !plot.scale) return;
    drag = { from: at(event), to: at(event), px: event.clientX };
    svg.setPointerCapture(event.pointerId);
  });
  const finish = (event) => {
    if (!drag) return;
    const { from, to, px } = drag;
    drag = null;
    if (event.type === "pointerup" && Math.abs(event.clientX - px) > 6) setZoom([from, to]);
    else overlays();
  };
  svg.addEventListener("pointerup", finish);
  svg.addEventListener("pointercancel", finish);
  svg.addEventListener("dblclick", () => setZoom(null));
  svg.addEventListener("blur", () => {
    hoverX = null;
    overlays();
  });
  svg.addEventListener("keydown", (event) => onKey(event, plot));
}

// Arrows move the crosshair, + and - zoom around it, Escape shows everything.
function onKey(event, plot) {
  const [from, to] = xDomain();
  const centre = hoverX ?? (from + to) / 2;
  const zoomBy = (factor) => setZoom([centre - (centre - from) * factor, centre + (to - centre) * factor]);
  const step = (event.shiftKey ? 10 : 1) * (data.x.whole ? 1 : (to - from) / 100);
  const keys = {
    ArrowLeft: () => moveTo(centre - step, -1),
    ArrowRight: () => moveTo(centre + step, 1),
    "+": () => zoomBy(0.5),
    "=": () => zoomBy(0.5),
    "-": () => zoomBy(2),
    Escape: () => setZoom(null),
  };
  if (!keys[event.key] || event.ctrlKey || event.metaKey || event.altKey) return;
  event.preventDefault();
  keys[event.key]();
  function moveTo(x) {
    hoverX = snap(x);
    overlays();
  }
}

// The frame.

function legend() {
  legendFor = JSON.stringify(data.arms);
  const bar = root.querySelector(".legend");
  bar.replaceChildren(
    ...data.arms.map((arm) =>
      h("button", {
        type: "button",
        class: `arm arm-${arm.colour}`,
        "aria-pressed": String(!hidden.has(arm.id)),
        title: words.toggle,
        onclick: () => {
          if (hidden.has(arm.id)) hidden.delete(arm.id);
          else hidden.add(arm.id);
          legend();
          redraw();
          bar.children[data.arms.indexOf(arm)]?.focus();
        },
      },
      h("i", { class: "swatch" }),
      h("span", {}, arm.label),
      arm.how ? h("span", { class: `badge how-${arm.how}` }, arm.how) : "")
    )
  );
}

// What a line and what a diamond is.
function kinds() {
  return h("span", { class: "kinds" },
    h("span", {}, h("i", { class: "key-line" }), words.key_line),
    h("span", {}, h("i", { class: "swatch is-point" }), words.key_point));
}

function build() {
  const log = h("button", { type: "button", class: "tool", "aria-pressed": "false", onclick: () => {
    logLoss = !logLoss;
    log.setAttribute("aria-pressed", String(logLoss));
    redraw();
  } }, words.log);
  const reset = h("button", { type: "button", class: "tool reset", hidden: true, onclick: () => setZoom(null) }, words.reset);
  root.replaceChildren(
    h("div", { class: "charts-bar" },
      h("div", { class: "legend", role: "group", "aria-label": words.legend }),
      h("div", { class: "tools" }, reset, log)),
    h("div", { class: "plots" }),
    h("p", { class: "hint" }, words.hint)
  );
  plots = data.panels.map((panel, uid) => {
    const svg = h("svg", { tabindex: "0", role: "img", preserveAspectRatio: "none" });
    const tip = h("div", { class: "tip", hidden: true });
    const box = h("div", { class: "plot-box" }, svg, tip);
    const note = h("span", { class: "plot-note" });
    const caption = h("figcaption", {}, h("b", {}, panel.title), " ", h("span", { class: "unit" }, panel.unit), note);
    if (panel.key === "loss") caption.append(kinds());
    const figure = h("figure", { class: `plot plot-${panel.key}` }, caption, box);
    root.querySelector(".plots").append(figure);
    const plot = { panel, uid, figure, svg, tip, box, note };
    listen(plot);
    new ResizeObserver(() => data && drawPlot(plot)).observe(box);
    return plot;
  });
}

function redraw() {
  for (const plot of plots) drawPlot(plot);
}

function receive() {
  const next = props.value;
  if (!next || !next.panels) {
    data = null;
    plots = [];
    root.replaceChildren();
    return;
  }
  const another = !data || data.group !== next.group || data.x.label !== next.x.label;
  data = next;
  if (!plots.length) build();
  if (another) {
    // A reload, a bookmark and a copied address show the same comparison again.
    const address = new URL(location.href);
    address.searchParams.set("group", data.group);
    history.replaceState(history.state, "", address);
    zoom = null;
    finer = null;
    hoverX = null;
    hidden.clear();
    root.dataset.zoom = "";
    root.querySelector(".reset").hidden = true;
  }
  plots.forEach((plot, i) => {
    plot.panel = data.panels[i];
    plot.note.textContent = plot.panel.note ?? "";
  });
  if (legendFor !== JSON.stringify(data.arms)) legend(); // rebuilding it would take the focus away
  redraw();
  if (zoom && data.panels[0].lines.some((l) => l.live && l.x.at(-1) <= zoom[1])) refine();
  root.dataset.points = data.panels[0].lines.map((line) => line.x.length).join(",");
  root.dataset.draws = String(1 + Number(root.dataset.draws ?? 0));
}

watch("value", receive);
receive();
