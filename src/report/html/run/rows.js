// The layout of the run chart: rows from top to bottom, and time from left to right.

const plot = document.getElementById("plot"), cross = document.getElementById("cross");
const chart = document.getElementById("chart"), tip = document.getElementById("tip");
const {paint, box, frame, label, widthOf, fitted} = penOn(plot);

const whole = {from: 0, to: Math.max(1, info.end)};
let view = {...whole};

let width = 0;  // of the plot without the gutter, in CSS pixels
const x = (time) => gutter + (time - view.from) / (view.to - view.from) * width;
const timeAt = (px) => view.from + (px - gutter) / width * (view.to - view.from);

// Labels next to the rows; long labels are broken into lines.
let rows = [], height = 0, gutter = 0, laidOut = -1;
const names = [...info.workers, ...links.map((link) => link.name), ...nodes.map((node) => node.name)];

function layout(wide) {
  if (wide === laidOut) return;
  laidOut = wide;
  const widest = Math.max(...names.map((name) => widthOf(name)), 60);
  gutter = Math.ceil(Math.min(widest + 14, Math.max(90, 0.28 * wide)));
  rows = [];
  height = 0;
  const add = (kind, tall, gap, rest) => { rows.push({kind, y: height, height: tall, ...rest}); height += tall + gap; };
  const title = (text, entries, colour) => {
    const {places, below} = legendPlaces({widthOf}, entries, gutter, wide);
    add("title", 20 + below, 0, {text, names: entries, colour, places});
  };
  if (info.phases.length) add("phases", 20, 4, {});
  add("axis", 18, 2, {});
  const most = workers.length;
  const tall = most <= 4 ? 40 : most <= 16 ? 24 : most <= 64 ? 13 : 7;
  for (const worker of workers) add("worker", tall, most <= 64 ? 3 : 1, {worker});
  const busyLinks = links.filter((link) => link.copies.count > 0);
  if (busyLinks.length) title("Links", info.causes, "causes");
  for (const link of busyLinks) {
    add("traffic", 46, 1, {link});
    add("copies", Math.min(48, Math.max(6, 5 * link.copies.lanes)), 8, {link});
  }
  if (nodes.length) title("Memory", [...uses, "free"], "uses");
  for (const node of nodes) add("memory", 92, 10, {node});
}

// A label next to a row, broken at spaces into lines that fit; its last line, or its middle, is at `bottom`.
const rowLabel = (text, bottom, most = 3, middle = false) => {
  const lines = [""];
  for (const word of text.split(" ")) {
    const longer = lines.at(-1) ? lines.at(-1) + " " + word : word;
    if (fitted(longer, gutter - 10) === longer) lines[lines.length - 1] = longer;
    else if (lines.at(-1)) lines.push(word);
    else lines[0] = word;
  }
  if (lines.length > most) lines.splice(most - 1, lines.length, lines.slice(most - 1).join(" "));
  if (middle) bottom += 7 * (lines.length - 1);
  lines.forEach((line, i) => label(fitted(line, gutter - 8), 0, bottom - 14 * (lines.length - 1 - i), colours.ink));
};
