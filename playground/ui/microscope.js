// Reading a layer off the chart by pointer or arrow keys, and sorting the table beneath it.
// Runs once with `element` from gr.HTML; listens on it, because what is inside is drawn anew.

let at = null; // the layer that is read, by its place

function chart(event) {
  return event.target.closest?.("[data-layers]");
}

function read(plot, index) {
  const { names, rows } = JSON.parse(plot.dataset.layers);
  at = Math.min(Math.max(index, 0), rows.length - 1);
  const share = (at + 0.5) / rows.length;
  const cross = plot.querySelector(".cross");
  cross.setAttribute("d", `M${1000 * share} 0V1000`);
  cross.classList.add("is-on");
  let tip = plot.querySelector(".tip");
  if (!tip) {
    tip = document.createElement("div");
    tip.className = "tip";
    tip.setAttribute("role", "status");
    plot.append(tip);
  }
  const [head, ...values] = rows[at];
  const first = document.createElement("div");
  first.className = "tip-head";
  first.textContent = head;
  const lines = values.map((value, i) => {
    const line = document.createElement("div");
    line.className = "tip-row";
    line.append(names[i], Object.assign(document.createElement("b"), { textContent: value }));
    return line;
  });
  tip.replaceChildren(first, ...lines);
  tip.style.left = share < 0.5 ? `calc(${100 * share}% + 10px)` : "auto";
  tip.style.right = share < 0.5 ? "auto" : `calc(${100 * (1 - share)}% + 10px)`;
}

function leave(plot) {
  at = null;
  plot.querySelector(".tip")?.remove();
  plot.querySelector(".cross")?.classList.remove("is-on");
}

function count(plot) {
  return JSON.parse(plot.dataset.layers).rows.length;
}

element.addEventListener("pointermove", (event) => {
  const plot = chart(event);
  if (!plot) return;
  const box = plot.getBoundingClientRect();
  read(plot, Math.floor(((event.clientX - box.left) / box.width) * count(plot)));
});

element.addEventListener("pointerout", (event) => {
  const plot = chart(event);
  if (plot && !plot.contains(event.relatedTarget)) leave(plot);
});

element.addEventListener("focusout", (event) => {
  const plot = chart(event);
  if (plot) leave(plot);
});

element.addEventListener("keydown", (event) => {
  const plot = chart(event);
  if (!plot) return;
  const last = count(plot) - 1;
  const places = {
    ArrowRight: at === null ? 0 : at + 1,
    ArrowLeft: at === null ? last : at - 1,
    Home: 0,
    End: last,
  };
  if (event.key === "Escape") leave(plot);
  else if (event.key in places) {
    read(plot, places[event.key]);
    event.preventDefault();
  }
});

element.addEventListener("click", (event) => {
  const button = event.target.closest?.("button[data-sort]");
  if (!button) return;
  const column = Number(button.dataset.sort);
  const head = button.closest("th");
  const falling = head.getAttribute("aria-sort") !== "descending" && column > 1;
  const body = button.closest("table").tBodies[0];
  const key = (row) => {
    const cell = row.cells[column];
    return cell.dataset.value === undefined ? cell.textContent : Number(cell.dataset.value);
  };
  const order = (a, b) => (key(a) < key(b) ? -1 : key(a) > key(b) ? 1 : 0);
  const up = head.getAttribute("aria-sort") !== "ascending";
  const sign = column > 1 ? (falling ? -1 : 1) : up ? 1 : -1;
  body.append(...[...body.rows].sort((a, b) => sign * order(a, b)));
  for (const other of head.parentNode.cells) other.removeAttribute("aria-sort");
  head.setAttribute("aria-sort", sign > 0 ? "ascending" : "descending");
});
