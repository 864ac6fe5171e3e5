// What a person does to the charts: reads values at a crosshair, drags, zooms, moves by keys; read before charts.js.

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
    for (const arm of data.arms) {
      const lines = shown(plot.panel).filter((line) => line.arm === arm.id);
      const row = readArm(plot.panel, arm, lines, scale);
      if (!row) continue;
      for (const [line, i] of row.dots) overlay.append(dot(scale, line, i, lines.length > 1 ? 3 : 4));
      rows.push(row);
    }
    for (const point of plot.panel.points) {
      if (point.x !== hoverX || hidden.has(point.arm)) continue;
      const label = words.held_out.replace("{label}", point.label);
      rows.push({ colour: point.colour, label, values: [point.low, point.high], mean: point.y, marks: [], point: true });
    }
  }
  tip.hidden = rows.length === 0 || drag !== null;
  if (tip.hidden) return;
  tip.replaceChildren(h("div", { class: "tip-head" }, `${data.x.label} ${readable(hoverX, 6)}`), ...rows.map(tipRow));
  const at = scale.x(hoverX);
  const width = tip.offsetWidth;
  tip.style.left = `${at + width + 16 > scale.width ? Math.max(at - width - 10, 0) : at + 10}px`;
}

// What an arm, in one run or several repetitions, has at the crosshair: along other axes than steps no
// two arms have a point in the same place, so there it is each one's nearest.
function readArm(panel, arm, lines, scale) {
  const dots = [];
  const marks = [];
  const means = []; // where the line is smoothed
  const peaks = [];
  let found = 0;
  for (const line of lines) {
    if (!line.x.length) continue;
    const i = nearest(line.x, hoverX);
    const within = !data.x.whole && line.x[0] <= hoverX && hoverX <= line.x.at(-1);
    const near = within || Math.abs(scale.x(line.x[i]) - scale.x(hoverX)) <= 6;
    // A thinned line need not have a point where it was healed.
    marks.push(...line.marks.filter(([x]) => x === hoverX || (near && x === line.x[i])));
    if (!near) continue;
    found++;
    const drawn = asDrawn(panel, line);
    if (drawn !== line && drawn.y[i] !== null) means.push(drawn.y[i]);
    peaks.push(peakAt(line, i));
    if (line.y[i] !== null && !(scale.log && line.y[i] <= 0)) dots.push([line, i]);
  }
  if (!found && !marks.length) return null;
  const values = dots.map(([line, i]) => line.y[i]);
  const mean = values.length ? average(values) : null;
  const said = marks.map(([, kind, text]) => text ?? words.marks[kind] ?? kind);
  const [line, i] = dots.length === 1 ? dots[0] : [];
  return {
    colour: arm.colour, label: arm.label, values, mean, dots, marks: [...new Set(said)],
    smooth: means.length ? average(means) : null,
    peak: Math.max(0, ...peaks) || null,
    step: line?.step?.[i] ?? null,
  };
}

function tipRow({ colour, label, values, mean, marks, point, smooth = null, step = null, peak = null }) {
  const [low, high] = [Math.min(...values), Math.max(...values)];
  const range = values.length > 1 && low < high ? `${readable(low, 4, true)} – ${readable(high, 4, true)}` : "";
  return h("div", { class: `tip-row arm-${colour}` },
    h("i", { class: point ? "swatch is-point" : "swatch" }),
    h("span", {}, label),
    h("b", {}, mean === null && marks.length ? marks.shift() : readable(mean, 4, true)),
    range ? h("span", { class: "range" }, range) : "",
    smooth === null ? "" : h("span", { class: "range" }, words.averaged.replace("{value}", readable(smooth, 4, true))),
    peak === null ? "" : h("span", { class: "range" }, words.peak.replace("{value}", readable(peak, 4, true))),
    step === null ? "" : h("span", { class: "range" }, words.at_step.replace("{step}", readable(step, 6))),
    ...marks.map((mark) => h("em", {}, mark)));
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
  if (!zoom || !data.thinned || axis !== "step") return;
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
    for (const line of shown(panel)) {
      if (line.x.length) take(line.x[nearest(line.x, x)]);
      for (const [at] of line.marks) take(at);
    }
    for (const point of panel.points) if (!hidden.has(point.arm)) take(point.x);
  }
  return best;
}

function overlays() {
  for (const plot of plots) drawOverlay(plot);
  fillValues();
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
  svg.addEventListener("pointerleave", (event) => {
    if (drag || event.pointerType === "touch") return; // a finger leaves with every tap
    hoverX = null;
    overlays();
  });
  svg.addEventListener("pointerdown", (event) => {
    if (event.button !== 0 || !plot.scale) return;
    drag = { from: at(event), to: at(event), px: event.clientX };
    hoverX = snap(at(event)); // a finger that taps never moves
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
    say(plot);
  }
}
