// Smoothing: an exponential average, corrected for its beginning, the same for every arm; read before draw.js.

const SHARES = [0, 0.05, 0.1, 0.2]; // of all steps: over how many the average reaches back
const SMOOTHED = ["loss", "tokens_per_s"]; // memory is what it is

// Over about how many steps; 1 is no smoothing.
function reach(share, steps) {
  return share ? Math.max(2, Math.round(share * steps)) : 1;
}

// A line with averages for values. What lies between two points of a thinned line fades as if it were there.
// `past`: the same line from its first step on, where `line` is but a part of it.
function averaged(line, over, past = null) {
  const fade = 1 - 1 / over; // what is left of the past after one step
  const steps = line.step ?? line.x;
  let [sum, mass, last] = [0, 0, null];
  const take = (step, value) => {
    const left = fade ** (last === null ? 1 : step - last);
    sum = left * sum + (1 - left) * value;
    mass = left * mass + (1 - left);
    last = step;
    return sum / mass;
  };
  for (let i = 0; past && past.x[i] < steps[0]; i++) if (past.y[i] !== null) take(past.x[i], past.y[i]);
  return { ...line, y: line.y.map((y, i) => (y === null ? null : take(steps[i], y))) };
}
