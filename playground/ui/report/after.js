// Light or dark as the reader's system is; always light, unfolded and as wide as the paper when printed.
const dark = matchMedia("(prefers-color-scheme: dark)");
const paper = matchMedia("print");

function dress() {
  document.documentElement.classList.toggle("dark", dark.matches && !paper.matches);
}

function print(on) {
  hoverX = null;
  document.documentElement.classList.toggle("is-printed", on);
  document.documentElement.classList.toggle("dark", dark.matches && !on);
  for (const fold of document.querySelectorAll("details.rest")) fold.open = on;
  redraw();
}

dark.addEventListener("change", dress);
paper.addEventListener("change", dress);
addEventListener("beforeprint", () => print(true));
addEventListener("afterprint", () => print(false));
dress();
