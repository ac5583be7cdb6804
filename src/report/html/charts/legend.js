// Legends of charts.

// An entry next to a chart: a mark with that background, then text. `tag`: "span", or "button" for clickable entries.
const legendEntry = (tag, background, ...words) => {
  const entry = document.createElement(tag), mark = document.createElement("i");
  mark.style.background = background;
  entry.append(mark, ...words);
  return entry;
};
const recolourEntry = (entry, background) => { entry.firstChild.style.background = background; };

// Lays out entries within a chart: in one line from `from` if all fit up to `wide`, else below, from 0, in several
// lines. Returns the position of each entry, and the number of lines below.
const legendPlaces = ({widthOf}, names, from, wide) => {
  const sizes = names.map((name) => 34 + widthOf(name)), gap = 19;
  const inLine = from + sizes.reduce((a, b) => a + b, 0) - gap <= wide, line = 18;
  let left = 0, below = inLine ? 0 : 1;
  const places = sizes.map((size) => {
    if (!inLine && left && left + size - gap > wide) { left = 0; ++below; }
    left += size;
    return [(inLine ? from : 0) + left - size, line * below];
  });
  return {places, below: line * below};
};
// A square of the colour, or an empty one for entries without a colour, and the name.
const drawLegendEntry = ({box, frame, label}, name, colour, left, top) => {
  if (colour) box(colour, left, top, left + 10, top + 10);
  else frame(colours.line, left, top, left + 10, top + 10);
  label(name, left + 15, top + 5.5);
};
