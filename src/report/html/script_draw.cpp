// The page's script, third part: drawing. However many tasks there are, a frame costs what is in view, once:
// what is narrower than a pixel is added up, and a pixel's column shows the shares.
#include "report/html/parts.hpp"

namespace fairlead::report::html {

const std::string_view script_draw = R"js(
const plot = document.getElementById("plot"), cross = document.getElementById("cross");
const chart = document.getElementById("chart"), tip = document.getElementById("tip");
const whole = {from: 0, to: Math.max(1, info.end)};
const paint = plot.getContext("2d");
let view = {...whole};
let only = -1;  // the kind of task that is shown alone, or -1
let colours = {};

const readColours = () => {
  const style = getComputedStyle(document.documentElement);
  const of = (name) => style.getPropertyValue("--" + name).trim();
  const list = (letter, count) => Array.from({length: count}, (_, i) => of(letter + i));
  colours = {ink: of("ink"), soft: of("soft"), line: of("line"), grid: of("grid"), empty: of("empty"), paper: of("paper"),
    wait: of("wait"), codelets: kindColours(list("c", 10), info.codelets.length), causes: list("u", 4), uses: [of("u0"), of("u1"), of("u2"), of("u4")]};
};
// Dark letters on light colours, light ones on dark.
const inkOn = (colour) => {
  const [r, g, b] = [1, 3, 5].map((at) => (parseInt(colour.slice(at, at + 2), 16) / 255) ** 2.2);
  return 0.21 * r + 0.72 * g + 0.07 * b > 0.26 ? "#101214" : "#fff";
};
// The kinds that take most of the time get the first colours.
const busyOf = new Float64Array(info.codelets.length);
for (const {tasks} of workers) for (let i = 0; i < tasks.count; ++i) busyOf[tasks.codelet[i]] += tasks.busy[i];
const byTime = [...busyOf.keys()].sort((a, b) => busyOf[b] - busyOf[a]);
const rank = byTime.map((_, codelet) => byTime.indexOf(codelet));
const colourOf = (codelet) => colours.codelets[rank[codelet]];

// ---- where things are: rows from top to bottom, each with its place

// Names beside the rows; where they need more than is left beside a chart, they are broken into lines.
let rows = [], height = 0, gutter = 0, laidOut = -1;
const names = [...info.workers, ...links.map((link) => link.name), ...nodes.map((node) => node.name)];
function layout(wide) {
  if (wide === laidOut) return;
  laidOut = wide;
  paint.font = "12px system-ui, sans-serif";
  const widest = Math.max(...names.map((name) => paint.measureText(name).width), 60);
  gutter = Math.ceil(Math.min(widest + 14, Math.max(90, 0.28 * wide)));
  rows = [];
  let y = 0;
  const add = (kind, tall, gap, rest) => { rows.push({kind, y, height: tall, ...rest}); y += tall + gap; };
  // Its legend goes beside it, or below where it does not fit, in as many lines as it needs.
  const title = (text, legend, colour) => {
    const places = [], all = wide - gutter;
    let left = 0, line = 0;
    const sizes = legend.map((name) => 34 + paint.measureText(name).width), beside = sizes.reduce((a, b) => a + b, 0) - 19 <= all;
    sizes.forEach((size) => {
      if (!beside && left && left + size - 19 > wide) { left = 0; ++line; }
      places.push([(beside ? gutter : 0) + left, (beside ? 0 : 18) + 18 * line]);
      left += size;
    });
    add("title", 20 + (beside ? 0 : 18 * (line + 1)), 0, {text, names: legend, colour, places});
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
  height = y;
}
let width = 0;  // of the plot without the gutter, in CSS pixels
const x = (time) => gutter + (time - view.from) / (view.to - view.from) * width;
const timeAt = (px) => view.from + (px - gutter) / width * (view.to - view.from);

// ---- drawing

const box = (colour, left, top, right, bottom) => {
  paint.fillStyle = colour;
  paint.fillRect(left, top, right - left, bottom - top);
};
const label = (text, left, top, colour = colours.soft, align = "left", size = 12) => {
  paint.font = size + "px system-ui, sans-serif";
  paint.fillStyle = colour;
  paint.textAlign = align;
  paint.textBaseline = "middle";
  paint.fillText(text, left, top);
};
const fitted = (text, room) => {
  paint.font = "12px system-ui, sans-serif";
  if (paint.measureText(text).width <= room) return text;
  while (text && paint.measureText(text + "\u2026").width > room) text = text.slice(0, -1);
  return text ? text + "\u2026" : "";
};
// A name beside a row, its last line at `bottom`, or its middle there: in lines that fit, broken at blanks.
const besideRow = (text, bottom, most = 3, middle = false) => {
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
const stepOf = (span, most) => {
  const raw = span / most, power = 10 ** Math.floor(Math.log10(raw));
  return [1, 2, 5, 10].find((m) => m * power >= raw) * power;
};

function drawAxis(row) {
  const step = Math.max(1, stepOf(view.to - view.from, Math.max(2, width / 110)));
  for (let time = Math.ceil(view.from / step) * step; time <= view.to; time += step) {
    box(colours.grid, x(time), row.y + row.height, x(time) + 1, height);
    const left = x(time), text = moment(time, step);
    label(text, Math.min(left, gutter + width - 30), row.y + 9, colours.soft, left < gutter + 24 ? "left" : "center", 11.5);
  }
}

function drawPhases(row) {
  for (const phase of info.phases) {
    const left = Math.max(gutter, x(phase.start)), right = Math.min(gutter + width, x(phase.end));
    if (right <= left) continue;
    box(colours.grid, left, row.y, Math.max(left + 1, right - 1), row.y + row.height);
    const text = fitted(phase.name, right - left - 12);
    if (text) label(text, left + 6, row.y + row.height / 2 + 1, colours.ink);
  }
}

function drawWorker(row) {
  const {tasks, waits} = row.worker, top = row.y, bottom = row.y + row.height;
  box(colours.empty, gutter, top, gutter + width, bottom);
  if (row.height >= 12) besideRow(row.worker.name, top + row.height / 2, row.height >= 28 ? 2 : 1, true);
  paint.globalAlpha = 0.28;
  for (let i = waits.from(view.from); i < waits.count && waits.start[i] < view.to; ++i)
    if (waits.forData[i])
      box(colours.wait, Math.max(gutter, x(waits.start[i])), top, Math.min(gutter + width, x(waits.end[i])), bottom);
  paint.globalAlpha = 1;

  const lane = row.height / tasks.lanes, pixels = width / (view.to - view.from);
  const dot = 1 / ratio;  // a pixel of the screen
  // What is narrow is added up here, for each lane: of one pixel, how much of it each kind of task takes.
  const sums = Array.from({length: tasks.lanes}, () => ({pixel: -1, shares: new Float64Array(info.codelets.length)}));
  const flush = (sum, k) => {
    if (sum.pixel < 0) return;
    const left = gutter + sum.pixel * dot, all = sum.shares.reduce((a, b) => a + b, 0);
    const scale = lane * Math.min(1, all) / all;
    let y = top + (k + 1) * lane;
    for (let c = 0; c < sum.shares.length; ++c) {
      if (!sum.shares[c]) continue;
      paint.globalAlpha = only < 0 || only === c ? 1 : 0.12;
      box(colourOf(c), left, y - sum.shares[c] * scale, left + dot, y);
      y -= sum.shares[c] * scale;
    }
    paint.globalAlpha = 1;
    sum.pixel = -1;
    sum.shares.fill(0);
  };
  const labelled = [];
  for (let i = tasks.from(view.from); i < tasks.count && tasks.start[i] < view.to; ++i) {
    const start = Math.max(view.from, tasks.start[i]), end = Math.min(view.to, tasks.end[i]);
    const left = (start - view.from) * pixels, right = (end - view.from) * pixels, k = tasks.lane[i];
    const codelet = tasks.codelet[i];
    if (right - left < 3 * dot) {
      const sum = sums[k], full = (tasks.busy[i] || 1) / (tasks.end[i] - tasks.start[i] || 1);
      const first = Math.floor(left / dot), last = Math.max(first, Math.ceil(right / dot) - 1);
      for (let pixel = first; pixel <= last; ++pixel) {
        if (pixel !== sum.pixel) { flush(sum, k); sum.pixel = pixel; }
        sum.shares[codelet] += Math.max(Math.min(right / dot, pixel + 1) - Math.max(left / dot, pixel), 1e-6) * full;
      }
      continue;
    }
    flush(sums[k], k);
    const y = top + k * lane, full = tasks.merged[i] > 1 ? tasks.busy[i] / (tasks.end[i] - tasks.start[i]) : 1;
    paint.globalAlpha = only < 0 || only === codelet ? 1 : 0.12;
    const edge = right - left > 8 ? 0.75 : right - left > 5 ? 0.4 : 0;
    box(colourOf(codelet), gutter + left, y + lane * (1 - full), gutter + right - edge, y + lane);
    paint.globalAlpha = 1;
    if (tasks.failed[i]) box(colours.wait, gutter + left, y, gutter + right, y + 3);
    if (right - left > 34 && lane >= 12) labelled.push([i, left, right, y]);
  }
  sums.forEach(flush);
  for (const [i, left, right, y] of labelled) {
    const name = info.codelets[tasks.codelet[i]];
    const text = tasks.merged[i] > 1 ? tasks.merged[i] + " tasks" : name;
    const long = tasks.merged[i] > 1 ? text : name + " " + dataOf(row.worker, i);
    const room = right - left - 8, wide = right - left > 150 && lane >= 20;
    if (!wide && fitted(text, room) !== text) continue;
    const colour = only < 0 || only === tasks.codelet[i] ? inkOn(colourOf(tasks.codelet[i])) : colours.soft;
    label(wide ? fitted(long, room) : text, gutter + left + 4, y + lane / 2 + 0.5, colour);
  }
}

// Bytes per second in each pixel, by cause: a copy's bytes are spread over its time.
function rates(copies) {
  const count = Math.max(1, Math.floor(width)), per = (view.to - view.from) / count;
  const result = info.causes.map(() => new Float64Array(count + 1));
  for (let i = copies.from(view.from); i < copies.count && copies.start[i] < view.to; ++i) {
    const start = copies.start[i], length = Math.max(copies.end[i] - start, 1e-9), rate = copies.bytes[i] / length;
    const first = Math.max(0, (start - view.from) / per), last = Math.min(count, (copies.end[i] - view.from) / per);
    const of = result[copies.cause[i]];
    for (let pixel = Math.floor(first); pixel < last && pixel < count; ++pixel)
      of[pixel] += rate * (Math.min(last, pixel + 1) - Math.max(first, pixel));
    if (first === last && first < count) of[Math.floor(first)] += copies.bytes[i] / per;
  }
  const second = 1e9 / info.tick_ns;
  for (const of of result) for (let i = 0; i < count; ++i) of[i] *= second;
  return result;
}

function drawTraffic(row) {
  const by = rates(row.link.copies), count = by[0].length - 1, bottom = row.y + row.height;
  let most = 0;
  for (let i = 0; i < count; ++i) most = Math.max(most, by.reduce((sum, of) => sum + of[i], 0));
  besideRow(row.link.name, row.y + row.height - 7);
  box(colours.line, gutter, bottom, gutter + width, bottom + 1);
  if (!most) return;
  const scale = (row.height - 2) / most;
  for (let i = 0; i < count; ++i) {
    let y = bottom;
    by.forEach((of, cause) => {
      if (of[i]) box(colours.causes[cause], gutter + i, y - of[i] * scale, gutter + i + 1, y);
      y -= of[i] * scale;
    });
  }
  label(moved(most) + "/s", gutter - 6, row.y + 6, colours.soft, "right", 11);
}

function drawCopies(row) {
  const {copies} = row.link, lane = row.height / copies.lanes;
  for (let i = copies.from(view.from); i < copies.count && copies.start[i] < view.to; ++i) {
    const left = Math.max(gutter, x(copies.start[i])), right = Math.min(gutter + width, x(copies.end[i]));
    const y = row.y + 2 + copies.lane[i] * lane;
    box(copies.failed[i] ? colours.wait : colours.causes[copies.cause[i]], left, y,
      Math.max(left + 0.5, right - (right - left > 3 ? 0.6 : 0)), y + Math.max(1, lane - 1));
  }
}

// Of each use, its mean over each pixel.
function means(node) {
  const count = Math.max(1, Math.floor(width)), per = (view.to - view.from) / count;
  const result = uses.map(() => new Float64Array(count));
  let low = 0, high = node.count;
  while (low < high) { const middle = (low + high) >> 1; if (node.at[middle] <= view.from) low = middle + 1; else high = middle; }
  let now = low - 1;  // the record that holds at the pixel's left edge; -1: nothing is known yet
  for (let pixel = 0; pixel < count; ++pixel) {
    const end = view.from + (pixel + 1) * per;
    let time = view.from + pixel * per;
    while (time < end) {
      const next = now + 1 < node.count ? Math.min(end, node.at[now + 1]) : end;
      if (now >= 0) for (let use = 0; use < 4; ++use) result[use][pixel] += node.bytes[use][now] * (next - time) / per;
      time = next;
      if (now + 1 < node.count && node.at[now + 1] <= time) ++now;
      else if (next === end) break;
    }
  }
  return result;
}

function drawMemory(row) {
  const by = means(row.node), scale = row.height / Math.max(1, row.node.capacity), bottom = row.y + row.height;
  box(colours.empty, gutter, row.y, gutter + width, bottom);
  for (let i = 0; i < by[0].length; ++i) {
    let y = bottom;
    for (let use = 0; use < 4; ++use) {
      const tall = by[use][i] * scale;
      if (tall > 0) box(colours.uses[use], gutter + i, y - tall, gutter + i + 1, y);
      y -= tall;
    }
  }
  box(colours.soft, gutter, row.y, gutter + width, row.y + 1);
  besideRow(row.node.name, bottom - 8);
  label(stored(row.node.capacity), gutter - 6, row.y + 6, colours.soft, "right", 11);
}

function drawTitle(row) {
  label(row.text, 0, row.y + 11, colours.soft, "left", 12);
  row.names.forEach((name, i) => {
    const colour = colours[row.colour][i], [left, down] = row.places[i], top = row.y + down + 6;
    if (colour) box(colour, left, top, left + 10, top + 10);
    else { paint.strokeStyle = colours.line; paint.strokeRect(left + 0.5, top + 0.5, 9, 9); }
    label(name, left + 15, top + 5.5);
  });
}

let ratio = 1, asked = false;
const drawers = {phases: drawPhases, axis: drawAxis, worker: drawWorker, title: drawTitle, traffic: drawTraffic, copies: drawCopies, memory: drawMemory};
function draw() {
  asked = false;
  ratio = Math.max(1, window.devicePixelRatio || 1);
  const wide = chart.clientWidth;
  layout(wide);
  width = Math.max(60, wide - gutter - 2);
  for (const canvas of [plot, cross]) {
    const w = Math.round(wide * ratio), h = Math.round(height * ratio);
    if (canvas.width !== w || canvas.height !== h) { canvas.width = w; canvas.height = h; canvas.style.height = height + "px"; }
  }
  paint.setTransform(ratio, 0, 0, ratio, 0, 0);
  box(colours.paper, 0, 0, wide, height);
  for (const row of rows) drawers[row.kind](row);
}
const redraw = () => { if (!asked) { asked = true; requestAnimationFrame(draw); } };
)js";

}  // namespace fairlead::report::html
