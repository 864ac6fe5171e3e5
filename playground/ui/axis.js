// The x-axis: by step as Python sends it, or by tokens, seconds or joules of training; read before charts.js.
// What was taken up to each step is asked for only when somebody looks along those axes.

const AXES = ["step", "tokens", "time", "energy"];

// Tokens, seconds or joules that a run had taken at a step, between two that are known in proportion.
function position(sums, axis, run, step) {
  const known = sums[run];
  if (known?.[axis][0] === null) return null; // never measured
  if (step <= 0) return 0;
  if (!known?.step.length || step > known.step.at(-1)) return null;
  let i = known.step.findIndex((at) => at >= step);
  const [from, to] = [i ? known.step[i - 1] : 0, known.step[i]];
  const [low, high] = [i ? known[axis][i - 1] : 0, known[axis][i]];
  return low + ((high - low) * (step - from)) / (to - from);
}

// The payload with its steps put where they are along the axis; what has no place yet is left out.
function along(payload, axis, sums) {
  if (axis === "step") return payload;
  const panels = payload.panels.map((panel) => {
    const lines = panel.lines.map((line) => lineAlong(line, (step) => position(sums, axis, line.run, step)));
    const points = panel.points.flatMap((point) => {
      const runs = panel.lines.filter((line) => line.arm === point.arm).map((line) => line.run);
      const places = runs.map((run) => position(sums, axis, run, point.x)).filter((x) => x !== null);
      return places.length ? [{ ...point, x: average(places) }] : [];
    });
    return { ...panel, lines, points };
  });
  const ends = panels.flatMap((panel) => panel.lines.map((line) => line.x.at(-1) ?? 0));
  return { ...payload, panels, x: { label: words.axes[axis], domain: [0, Math.max(...ends) || 1], whole: false } };
}

function lineAlong(line, place) {
  const kept = line.x.map(place).flatMap((x, i) => (x === null ? [] : [[x, line.y[i], line.x[i]]]));
  const marks = line.marks.flatMap(([step, ...rest]) => (place(step) === null ? [] : [[place(step), ...rest]]));
  return { ...line, x: kept.map(([x]) => x), y: kept.map(([, y]) => y), step: kept.map(([, , s]) => s), marks };
}
