// Axes: round steps, ticks, and the drawing of a time axis. axis.cpp implements the same rule for charts without scripts;
// tests/report/round_steps.txt checks both.

// 1, 2 or 5 times a power of ten, so that `range` has about `wanted` steps, and no more.
const roundStep = (range, wanted) => {
  const rough = range / wanted, power = 10 ** Math.floor(Math.log10(rough));
  return [1, 2, 5, 10].find((nice) => rough <= nice * power) * power;
};

// Multiples of `step` from `from` to `to`.
const ticksBetween = (from, to, step) => {
  const ticks = [], first = Math.ceil(from / step);
  for (let i = first; i * step <= to; ++i) ticks.push(i * step);
  return ticks;
};

// The number of ticks that fit into a chart of that width.
const ticksIn = (width) => Math.max(2, width / 110);

// Draws a line from `top` to `bottom` at each tick, with its label above. `at` maps a tick to its x position.
const drawTicks = ({box, label}, {ticks, text, at, top, bottom, left, right}) => {
  for (const tick of ticks) {
    const x = at(tick);
    box(colours.grid, x, top, x + 1, bottom);
    label(text(tick), Math.min(x, right - 30), top - 9, colours.soft, x < left + 24 ? "left" : "center", 11.5);
  }
};
