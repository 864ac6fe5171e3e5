// Asks now and then whether there is anything new of the comparison that the page shows, and has it shown.
// The server answers most of it with an empty 204 (see news.py). The less there is, the longer it waits; where nobody
// looks it does not ask. Runs once per page with `element`, `props`, `watch` and `trigger` from gr.HTML.

const SOONEST = 1000; // milliseconds from an answer to the next question
const LATEST = 3000;

let wait = SOONEST;
let timer = null;
let asking = false;

async function ask() {
  const shown = props.value; // set by whatever opens a comparison, and below
  if (asking || !shown || document.hidden || !element.isConnected) return;
  asking = true;
  try {
    const answer = await fetch(`news?${new URLSearchParams(shown.of)}`);
    if (!answer.ok) throw answer;
    const found = answer.status === 204 ? null : await answer.json();
    // Meanwhile another comparison may have been opened, and this is not its news.
    if (found && props.value === shown) {
      wait = SOONEST;
      props.value = { of: { ...shown.of, stamp: found.stamp }, parts: found.parts };
      trigger("news");
    } else {
      wait = Math.min(wait * 1.25, LATEST);
    }
  } catch {
    wait = LATEST;
    trigger("away"); // a question of Gradio's own: it finds out, says so and comes back with the server
  }
  asking = false;
  later();
}

function later() {
  clearTimeout(timer);
  timer = setTimeout(ask, wait);
}

function soon() {
  wait = SOONEST;
  later();
}

watch("value", soon);
document.addEventListener("visibilitychange", () => {
  if (!document.hidden) ask();
});
soon();
