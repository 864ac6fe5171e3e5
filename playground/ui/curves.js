// Numbers, ticks and paths of the charts: plain functions, read before charts.js.

// Numbers.

function niceTicks(low, high, count) {
  const span = high - low || Math.abs(high) || 1;
  const power = 10 ** Math.floor(Math.log10(span / count));
  const step = [1, 2, 5, 10].map((m) => m * power).find((s) => span / s <= count);
  const ticks = [];
  for (let at = Math.ceil(low / step - 1e-9); at * step <= high + step * 1e-9; at++) {
    ticks.push(at * step);
  }
  return ticks;
}

function logTicks(low, high) {
  const ticks = [];
  for (let power = Math.floor(Math.log10(low)); power <= Math.ceil(Math.log10(high)); power++) {
    for (const m of [1, 2, 5]) {
      const tick = m * 10 ** power;
      if (tick >= low && tick <= high) ticks.push(tick);
    }
  }
  return ticks.length > 1 ? ticks : niceTicks(low, high, 4);
}

// A tick drops its trailing zeros; values under each other keep theirs, so that digits line up.
function readable(value, digits = 4, aligned = false) {
  if (value === null || value === undefined) return words.missing;
  if (value === 0) return "0";
  const size = Math.abs(value);
  if (size >= 1e6 || size < 1e-3) return value.toExponential(2).replace("e+", "e");
  const decimals = Math.max(0, digits - 1 - Math.floor(Math.log10(size)));
  return value.toLocaleString("en", {
    minimumFractionDigits: aligned ? Math.min(decimals, 6) : 0,
    maximumFractionDigits: Math.min(decimals, 6),
  });
}

// Index of the point of a line that is nearest to x.
function nearest(xs, x) {
  let low = 0;
  let high = xs.length - 1;
  while (high - low > 1) {
    const middle = (low + high) >> 1;
    if (xs[middle] < x) low = middle;
    else high = middle;
  }
  return x - xs[low] <= xs[high] - x ? low : high;
}

// Lines.

function linePath(line, scale) {
  let path = "";
  let pen = false;
  for (let i = 0; i < line.x.length; i++) {
    const y = line.y[i];
    if (y === null || (scale.log && y <= 0)) {
      pen = false; // no line across a value that is not there
      continue;
    }
    path += `${pen ? "L" : "M"}${scale.x(line.x[i]).toFixed(1)} ${scale.y(y).toFixed(1)}`;
    pen = true;
  }
  return path;
}

// A point with no neighbour would leave no line: one step, or one good value between two NaN.
function lonely(line) {
  return line.y.flatMap((y, i) =>
    y !== null && (line.y[i - 1] ?? null) === null && (line.y[i + 1] ?? null) === null ? [i] : []
  );
}

function average(values) {
  return values.reduce((sum, v) => sum + v) / values.length;
}

// Repetitions of one arm: the mean line, step by step as far as all of them that have begun have got.
function meanLine(repetitions) {
  const begun = repetitions.filter((line) => line.x.length);
  if (begun.length < 2) return begun[0] ?? repetitions[0];
  const places = begun.map((line) => new Map((line.step ?? line.x).map((step, i) => [step, i])));
  const x = [];
  const y = [];
  for (const step of places[0].keys()) {
    if (!places.every((place) => place.has(step))) continue;
    const at = begun.map((line, k) => [line.x[places[k].get(step)], line.y[places[k].get(step)]]);
    x.push(average(at.map(([x]) => x)));
    y.push(at.some(([, y]) => y === null) ? null : average(at.map(([, y]) => y)));
  }
  return { ...begun[0], x, y, marks: [], live: false };
}

// Each arm's line: its only one, or the mean of its repetitions.
function strong(lines) {
  const arms = [...new Set(lines.map((line) => line.arm))];
  return arms.map((arm) => meanLine(lines.filter((line) => line.arm === arm)));
}

// Lines that coincide would hide each other: there they take turns along x, in bands of this width.
const BAND = 9;
const TOUCHING = 2; // pixels between two lines that cannot be told apart

// For each line and each of its points: [its turn, how many share the place].
function turns(lines, scale) {
  const pixel = lines.map((line) => new Map(line.x.map((x, i) => [x, line.y[i] === null ? null : scale.y(line.y[i])])));
  return lines.map((line, me) =>
    line.x.map((x) => {
      const mine = pixel[me].get(x);
      const near = pixel.flatMap((other, i) =>
        mine !== null && Math.abs((other.get(x) ?? Infinity) - mine) < TOUCHING ? [i] : []
      );
      return [near.indexOf(me), near.length];
    })
  );
}

// The part of a line that is its own: everything where it is alone, its bands where it is not.
function ownPath(line, scale, shares) {
  let path = "";
  const at = (i) => {
    const y = line.y[i];
    return y === null || (scale.log && y <= 0) ? null : [scale.x(line.x[i]), scale.y(y)];
  };
  for (let i = 1; i < line.x.length; i++) {
    const [from, to] = [at(i - 1), at(i)];
    const [turn, count] = shares[i];
    if (!from || !to || count < 2 || shares[i - 1][1] < 2) continue;
    for (let band = Math.floor(from[0] / BAND); band * BAND <= to[0]; band++) {
      if (((band % count) + count) % count !== turn) continue;
      const ends = [Math.max(band * BAND, from[0]), Math.min((band + 1) * BAND, to[0])];
      if (ends[0] >= ends[1]) continue;
      const [a, b] = ends.map((x) => {
        const part = (x - from[0]) / (to[0] - from[0]);
        return `${x.toFixed(1)} ${(from[1] + part * (to[1] - from[1])).toFixed(1)}`;
      });
      path += `M${a}L${b}`;
    }
  }
  return path;
}

// Points in one place stand side by side around it, in the order of the arms, inside the plot.
function apart(points, scale) {
  const [left, right] = scale.inner;
  return points.map((point) => {
    const same = points.filter((p) => p.x === point.x && Math.abs(scale.y(p.y) - scale.y(point.y)) < 6);
    const width = (same.length - 1) * 7;
    const first = Math.max(left, Math.min(scale.x(point.x) - width / 2, right - width));
    const alone = same.length < 2 || scale.x(point.x) < left || scale.x(point.x) > right;
    return [alone ? scale.x(point.x) : first + same.indexOf(point) * 7, scale.y(point.y)];
  });
}

// The highest memory up to a point of a line; 0 where it was never told.
function peakAt(line, i) {
  const step = line.step?.[i] ?? line.x[i];
  return (line.peaks ?? []).findLast(([from]) => from <= step)?.[1] ?? 0;
}

function lastPoint(line) {
  for (let i = line.y.length - 1; i >= 0; i--) if (line.y[i] !== null) return i;
  return -1;
}
