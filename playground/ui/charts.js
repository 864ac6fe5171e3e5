// Draws the live charts: one SVG per metric, every arm over the others, one shared x-axis.
// Runs once per page with `element`, `props` and `watch` from gr.HTML, and with `words` from text.py.
// Python sends plain data (see charts.py); zoom, hover, log scale and hidden arms live here, so new data never resets them.

const root = element.querySelector(".charts");

let payload = null; // the last one, as Python sent it
let data = null; // the same along the axis that a person chose
let axis = "step";
let zoom = null; // [from, to] in x units, or null for everything
let hoverX = null; // x of the crosshair, snapped to a point that exists
let drag = null; // {from, to} while a range is being dragged
let logLoss = false;
let smoothing = 0; // share of all steps that an average reaches back
let legendFor = ""; // the arms that the legend shows
let finer = null; // {range, panels}: every step inside the zoom, where the payload has them thinned
const hidden = new Set(); // arms switched off in the legend
let plots = []; // one per panel: {panel, figure, svg, tip, scale}

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
      arm.how ? h("span", { class: `badge how-${arm.how}` }, words.how[arm.how]) : "")
    )
  );
}

// What a line, a diamond and each mark that is there stand for.
function keys() {
  const repeats = data.arms.some((arm) => arm.runs > 1);
  const there = new Set(data.panels.flatMap((p) => p.lines.flatMap((line) => line.marks.map(([, kind]) => kind))));
  const over = reach(smoothing, payload.x.domain[1]);
  const line = repeats ? words.key_mean : words.key_line;
  const icon = (kind) => h("svg", { class: "key-mark", viewBox: "-7 -7 14 14" }, markShape(kind));
  root.querySelector(".kinds").replaceChildren(
    h("span", {}, h("i", { class: over > 1 ? "key-line is-raw" : "key-line" }), line),
    over > 1 ? h("span", {}, h("i", { class: "key-line" }), words.key_average.replace("{count}", over)) : "",
    repeats ? h("span", {}, h("i", { class: "key-line is-repeat" }), words.key_repeat) : "",
    h("span", {}, h("i", { class: "swatch is-point" }), words.key_point),
    ...[...there].map((kind) => h("span", {}, icon(kind), words.marks[kind] ?? kind)));
}

// What seconds or joules along the first chart mean.
function axisNote() {
  const [real, emulated] = words.axis_notes[axis] ?? ["", ""];
  return data.arms.some((arm) => arm.how === "emulated") ? emulated : real;
}

function axisButton(name) {
  return h("button", { type: "button", class: "tool", "data-axis": name, "aria-pressed": String(name === axis), onclick: () => setAxis(name) }, words.axes[name]);
}

// How far back an average reaches is told in steps, and how many those are depends on the comparison.
function smoother() {
  const choose = h("select", { onchange: (event) => {
    smoothing = Number(event.target.value);
    keys();
    redraw();
  } });
  return h("label", { class: "smoother" }, words.smoothing, choose);
}

function smootherChoices() {
  const choose = root.querySelector(".smoother select");
  const steps = String(payload.x.domain[1]);
  if (choose.dataset.steps === steps) return;
  choose.dataset.steps = steps;
  choose.replaceChildren(...SHARES.map((share) => h("option", { value: share },
    share ? words.smooth_over.replace("{count}", reach(share, payload.x.domain[1])) : words.smooth_none)));
  choose.value = String(smoothing);
}

// Why joules cannot be had stands on their button, which stays where a keyboard can reach it.
function energyButton() {
  const button = root.querySelector('[data-axis="energy"]');
  button.title = payload.no_energy ?? "";
  button.setAttribute("aria-disabled", String(Boolean(payload.no_energy)));
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
      h("div", { class: "tools" }, reset,
        h("div", { class: "axes", role: "group", "aria-label": words.axis }, ...AXES.map(axisButton)), smoother(), log)),
    h("div", { class: "plots" }),
    buildValues(),
    h("p", { class: "unseen said", "aria-live": "polite" }),
    h("p", { class: "hint" }, words.hint)
  );
  plots = data.panels.map((panel, uid) => {
    const svg = h("svg", { tabindex: "0", role: "img", preserveAspectRatio: "none" });
    const tip = h("div", { class: "tip", hidden: true });
    const box = h("div", { class: "plot-box" }, svg, tip);
    const note = h("span", { class: "plot-note" });
    const caption = h("figcaption", {}, h("b", {}, panel.title), " ", h("span", { class: "unit" }, panel.unit), note);
    if (panel.key === "loss") caption.append(h("span", { class: "kinds" }));
    const figure = h("figure", { class: `plot plot-${panel.key}` }, caption, box);
    root.querySelector(".plots").append(figure);
    const plot = { panel, uid, figure, svg, tip, box, note };
    listen(plot);
    new ResizeObserver(() => data && (remember(), drawPlot(plot))).observe(box);
    return plot;
  });
}

function redraw() {
  for (const plot of plots) drawPlot(plot);
  fillValues();
}

function unzoom() {
  zoom = null;
  finer = null;
  hoverX = null;
  root.dataset.zoom = "";
  root.querySelector(".reset").hidden = true;
}

function setAxis(name) {
  if (name === "energy" && payload.no_energy) return;
  axis = name;
  for (const button of root.querySelectorAll("[data-axis]")) {
    button.setAttribute("aria-pressed", String(button.dataset.axis === axis));
  }
  unzoom();
  settle();
}

function receive() {
  payload = props.value;
  if (payload?.panels) {
    settle();
    return;
  }
  data = null;
  plots = [];
  root.replaceChildren();
}

// Draws the newest payload along the chosen axis; for another than steps its sums are asked for first.
async function settle() {
  let sums = null;
  const wanted = axis;
  if (wanted !== "step") {
    try {
      sums = await server.totals(payload.group);
    } catch {
      return; // the server is away, and Gradio says so; what is drawn stays
    }
  }
  if (axis === wanted && payload?.panels) take(along(payload, axis, sums));
}

// A reload, a bookmark and a copied address show again what is in view: one of two pages with charts.
function remember() {
  if (!data.address || !root.offsetParent) return; // a file has no address to note anything in
  const address = new URL(location.href);
  const other = data.address === "runs" ? "group" : "runs";
  if (address.searchParams.get(data.address) === data.group && !address.searchParams.has(other)) return;
  address.searchParams.delete(other);
  address.searchParams.set(data.address, data.group);
  history.replaceState(history.state, "", address.href.replaceAll("%2C", ","));
}

function take(next) {
  const another = data?.group !== next.group;
  data = next;
  if (!plots.length) build();
  remember();
  if (another) {
    hidden.clear();
    unzoom();
  }
  plots.forEach((plot, i) => {
    plot.panel = data.panels[i];
    plot.note.textContent = plot.panel.note ?? (i ? "" : axisNote());
  });
  if (legendFor !== JSON.stringify(data.arms)) legend(); // rebuilding it would take the focus away
  keys();
  smootherChoices();
  energyButton();
  redraw();
  if (zoom && data.panels[0].lines.some((l) => l.live && l.x.at(-1) <= zoom[1])) refine();
  root.dataset.axis = axis;
  root.dataset.points = data.panels[0].lines.map((line) => line.x.length).join(",");
  root.dataset.draws = String(1 + Number(root.dataset.draws ?? 0));
}

watch("value", receive);
receive();
