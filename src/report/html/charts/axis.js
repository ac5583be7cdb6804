// Axes: round steps, ticks, and how an axis of time is drawn. axis.cpp has the same rule for pictures without a script;
// tests/report/round_steps.txt is what both are held to.

// 1, 2 or 5 times a power of ten, so that about `wanted` of them make `range`, and no more.
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

// As many as a chart of that width has room for.
const ticksIn = (width) => Math.max(2, width / 110);

// A line down from `top` to `bottom` at each tick, its text above. `at` tells where a tick is, from `left` to `right`.
const drawTicks = ({box, label}, {ticks, text, at, top, bottom, left, right}) => {
  for (const tick of ticks) {
    const x = at(tick);
    box(colours.grid, x, top, x + 1, bottom);
    label(text(tick), Math.min(x, right - 30), top - 9, colours.soft, x < left + 24 ? "left" : "center", 11.5);
  }
};
