// Marks the fields of the form that its notice is about, and says beside each what is wrong with it.
// Runs once with `element` and `watch` from gr.HTML. What is typed into a field takes its mark away.

const PATIENCE_MS = 5000; // for a section to unfold
const ELSEWHERE = { model: "model-card" }; // what is wrong with a model, its own card says

function unmark(block) {
  block.classList.remove("is-wrong-field");
  block.querySelector(".wrong-said")?.remove();
  for (const input of block.querySelectorAll("[aria-invalid]")) {
    input.removeAttribute("aria-invalid");
    input.removeAttribute("aria-describedby");
  }
}

function markWhenThere(key, sentence, until) {
  const block = document.getElementById(`field-${key}`);
  if (!block?.getBoundingClientRect().height) {
    if (Date.now() < until) requestAnimationFrame(() => markWhenThere(key, sentence, until));
    return;
  }
  unmark(block);
  block.classList.add("is-wrong-field");
  let id = ELSEWHERE[key];
  if (!id) {
    const said = document.createElement("p");
    said.className = "wrong-said";
    said.id = id = `wrong-${key}`;
    said.textContent = sentence;
    block.append(said);
  }
  for (const input of block.querySelectorAll("input, textarea")) {
    input.setAttribute("aria-invalid", "true");
    input.setAttribute("aria-describedby", id);
  }
  block.addEventListener("input", () => unmark(block), { once: true });
}

function mark() {
  for (const block of document.querySelectorAll("#form .is-wrong-field")) unmark(block);
  const told = element.querySelector("[data-wrong]");
  if (!told) return;
  const until = Date.now() + PATIENCE_MS, unfolded = new Set([""]);
  for (const [key, [fold, sentence]] of Object.entries(JSON.parse(told.dataset.wrong))) {
    const block = document.getElementById(`field-${key}`);
    if (!unfolded.has(fold) && !block?.getBoundingClientRect().height) {
      document.querySelector(`#advanced-${fold} button.label-wrap`)?.click();
    }
    unfolded.add(fold);
    markWhenThere(key, sentence, until);
  }
}

watch("value", mark);
