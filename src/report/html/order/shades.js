// The colours of the order chart: red, green, blue, yellow, magenta, cyan, orange, repeated; each from light to dark.

Object.assign(order, (() => {
  const names = ["red", "green", "blue", "yellow", "magenta", "cyan", "orange"], steps = 64;
  const hues = [[2, 84], [128, 62], [222, 82], [52, 92], [304, 70], [184, 84], [27, 96]];
  const shades = hues.map(([hue, much]) => Array.from({length: steps}, (_, i) =>
    `hsl(${hue} ${much}% ${(84 - 52 * i / (steps - 1)).toFixed(1)}%)`));
  // The colour of the task at a position of the order; `span`: tasks per colour.
  const colourAt = (position, span) => shades[Math.floor(position / span) % hues.length]
    [Math.floor(position % span * steps / span)];
  return {names, shades, colourAt};
})());
