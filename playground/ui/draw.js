// Draws one chart: scales, axes, lines, held-out points and marks; read before charts.js.

const SVG = "http://www.w3.org/2000/svg";
const MARGIN = { top: 10, right: 14, bottom: 24, left: 52 };

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

// The same, smoothed if that was asked for; kept, for a pointer that moves asks for it again and again.
const kept = new WeakMap();
function asDrawn(panel, line) {
  const over = SMOOTHED.includes(panel.key) ? reach(smoothing, payload.x.domain[1]) : 1;
  if (over === 1) return line;
  const known = kept.get(line);
  if (known?.over === over) return known.line;
  const past = panel.lines.find((whole) => whole.run === line.run && whole !== line);
  const drawn = averaged(line, over, past);
  kept.set(line, { over, line: drawn });
  return drawn;
}

function armOf(line) {
  return data.arms.find((arm) => arm.id === line.arm);
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
    if (!hidden.has(point.arm) && point.x >= from && point.x <= to) [point.low, point.high].forEach(take);
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

// What stands for each kind of mark, drawn around (0, 0); those with a stem stand at the top.
const MARKS = {
  "not finite": { d: "M-5 -5L5 5M5 -5L-5 5", open: true },
  "skipped update": { d: "M0 3l-4 -7h8z", stemless: true },
  ended: { d: "M-4.5 -4.5h9v9h-9z" },
  "out of memory": { d: "M-5 5V-5H5V5zM-5 -5L5 5M5 -5L-5 5", open: true },
  healed: { d: "M-5 0H5M0 -5V5", open: true },
  resumed: { d: "M-4 -5L5 0L-4 5z" },
};

function markShape(kind) {
  const { d, open } = MARKS[kind] ?? MARKS.ended;
  return h("path", { d, class: open ? "mark-open" : "mark-solid" });
}

// `taken` holds where marks stand already, so that those in one place stand below each other.
function drawMark(layer, scale, line, [x, kind, said], taken) {
  const at = scale.x(x);
  const name = `${line.label}, ${data.x.label} ${readable(x, 6)}: ${said ?? words.marks[kind] ?? kind}`;
  const [, , bottom, top] = scale.inner;
  const stem = !MARKS[kind]?.stemless;
  const near = stem ? taken.filter((other) => Math.abs(other - at) < 12).length : 0;
  if (stem) taken.push(at);
  const y = stem ? top + 6 + near * 13 : bottom - 4;
  const group = h("g", { class: `mark arm-${line.colour}`, "data-kind": kind }, h("title", {}, name));
  if (stem) group.append(h("line", { class: "mark-stem", x1: at, x2: at, y1: y + 6, y2: bottom }));
  group.append(h("g", { transform: `translate(${at} ${y})` }, markShape(kind)));
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
  const measured = shown(plot.panel);
  const every = measured.map((line) => asDrawn(plot.panel, line));
  const lines = strong(every);
  if (every.some((line, i) => line !== measured[i])) {
    for (const line of strong(measured)) {
      layer.append(h("path", { class: `raw arm-${line.colour}`, d: linePath(line, scale) }));
    }
  }
  for (const line of every.filter((l) => l.repeat)) {
    layer.append(h("path", { class: `repeat arm-${line.colour}`, d: linePath(line, scale), "data-run": line.run }));
  }
  for (const line of lines) {
    layer.append(h("path", { class: `line arm-${line.colour}`, d: linePath(line, scale), "data-arm": line.arm }));
  }
  const shares = turns(lines, scale);
  for (const [i, line] of lines.entries()) {
    const own = lines.length > 1 ? ownPath(line, scale, shares[i]) : "";
    if (own) layer.append(h("path", { class: `turn arm-${line.colour}`, d: own }));
    for (const at of lonely(line)) layer.append(dot(scale, line, at, 3));
  }
  const taken = [];
  for (const line of every) {
    const last = lastPoint(line);
    if (last >= 0 && line.live) layer.append(dot(scale, line, last, 3.5, "live"));
    for (const mark of line.marks) {
      if (mark[0] >= scale.x0 && mark[0] <= scale.x1) drawMark(layer, scale, line, mark, taken);
    }
  }
  const points = plot.panel.points.filter((p) => !hidden.has(p.arm) && !(scale.log && p.y <= 0));
  const places = apart(points, scale);
  for (const [i, point] of points.entries()) drawPoint(layer, scale, point, places[i]);
  svg.append(layer);
  if (scale.empty) {
    const middle = { x: (left + right) / 2, y: (top + bottom) / 2, "text-anchor": "middle" };
    svg.append(h("text", { class: "nothing", ...middle }, plot.panel.empty));
  }
  plot.overlay = h("g", { class: "overlay" });
  svg.append(plot.overlay);
  drawOverlay(plot);
}

// A held-out loss; of repetitions their mean, with a whisker from the lowest to the highest.
function drawPoint(layer, scale, point, [x, y]) {
  const group = h("g", { class: `point arm-${point.colour}` }, h("title", {}, point.title));
  const low = scale.log && point.low <= 0 ? point.y : point.low;
  if (point.low < point.high) {
    group.append(h("line", { class: "whisker", x1: x, x2: x, y1: scale.y(low), y2: scale.y(point.high) }));
  }
  group.append(h("path", { class: "eval", d: `M${x} ${y - 5}l5 5l-5 5l-5 -5z` }));
  layer.append(group);
}

function dot(scale, line, i, r, extra = "") {
  return h("circle", { class: `dot ${extra} arm-${line.colour}`, cx: scale.x(line.x[i]), cy: scale.y(line.y[i]), r });
}

function describe(panel) {
  const parts = strong(shown(panel)).map((line) => {
    const last = lastPoint(line);
    const label = armOf(line).label;
    return last < 0
      ? `${label}: ${words.no_points}`
      : `${label}: ${readable(line.y[last])} ${panel.unit}, ${data.x.label} ${readable(line.x[last], 6)}`;
  });
  return `${panel.title}. ${parts.join("; ")}. ${words.keys}`;
}
