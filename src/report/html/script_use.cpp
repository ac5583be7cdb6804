// The page's script, fourth part: what the mouse, the keys and the buttons do.
#include "report/html/parts.hpp"

namespace fairlead::report::html {

const std::string_view script_use = R"js(
// ---- the view

function show(from, to) {
  const least = 20, all = whole.to - whole.from;
  let span = Math.min(all, Math.max(least, to - from));
  from = Math.min(Math.max(whole.from, (from + to - span) / 2), whole.to - span);
  view = {from, to: from + span};
  redraw();
  hideTip();
}
const zoom = (factor, at = (view.from + view.to) / 2) =>
  show(at - (at - view.from) / factor, at + (view.to - at) / factor);
const move = (part) => {
  const by = Math.min(Math.max(part * (view.to - view.from), whole.from - view.from), whole.to - view.to);
  show(view.from + by, view.to + by);
};

// ---- what is under the mouse

const when = (start, end) => duration(end - start) + ", from " + moment(start, Math.max(1, end - start) / 10);

function taskText(row, from, to, y) {
  const {tasks, waits} = row.worker, found = [];
  const lane = Math.floor((y - row.y) / (row.height / tasks.lanes));
  for (let i = tasks.from(from); i < tasks.count && tasks.start[i] < to; ++i)
    if (tasks.end[i] >= from && tasks.lane[i] === lane) found.push(i);
  if (found.length === 1 && tasks.merged[found[0]] === 1) {
    const i = found[0];
    return [bold(info.codelets[tasks.codelet[i]]), " " + dataOf(row.worker, i) + "\n", small(when(tasks.start[i], tasks.end[i]) + ", " + row.worker.name + (tasks.failed[i] ? ", failed" : ""))];
  }
  if (found.length) {
    const kinds = new Map();
    let count = 0;
    for (const i of found) {
      count += tasks.merged[i];
      const of = kinds.get(tasks.codelet[i]) || {count: 0, busy: 0};
      kinds.set(tasks.codelet[i], {count: of.count + tasks.merged[i], busy: of.busy + tasks.busy[i]});
    }
    const list = [...kinds].sort((a, b) => b[1].busy - a[1].busy).slice(0, 5)
      .map(([c, of]) => (found.some((i) => tasks.merged[i] > 1) ? "mostly " : of.count + " ") + info.codelets[c] + ", " + duration(of.busy)).join("\n");
    return [bold(count + " tasks"), " in " + duration(to - from) + "\n" + list + "\n", small(row.worker.name + ", from " + moment(from, to - from))];
  }
  for (let i = waits.from(from); i < waits.count && waits.start[i] < to; ++i)
    if (waits.end[i] >= from)
      return [bold(waits.forData[i] ? "waiting for data" : "waiting for tasks"), "\n", small(when(waits.start[i], waits.end[i]) + ", " + row.worker.name)];
  return null;
}

function copyText(row, from, to, y) {
  const {copies} = row.link, lane = row.kind === "copies" ? Math.floor((y - row.y - 2) / (row.height / copies.lanes)) : -1;
  const found = [];
  for (let i = copies.from(from); i < copies.count && copies.start[i] < to; ++i)
    if (copies.end[i] >= from && (lane < 0 || copies.lane[i] === lane)) found.push(i);
  if (!found.length) return null;
  const line = (i) => info.causes[copies.cause[i]] + " " + (copies.merged[i] > 1 ? copies.merged[i] + " copies" : info.data[copies.datum[i]]) +
    ", " + moved(copies.bytes[i]) + ", " + duration(copies.end[i] - copies.start[i]) + (copies.failed[i] ? ", failed" : "") +
    (copies.passes.has(i) ? " (" + copies.passes.get(i) + ")" : "");
  if (found.length === 1)
    return [bold(line(found[0])), "\n", small("from " + moment(copies.start[found[0]], (copies.end[found[0]] - copies.start[found[0]]) / 10 || 1) + ", " + row.link.name)];
  const more = found.length > 6 ? "\nand " + (found.length - 6) + " more" : "";
  return [bold(found.length + " copies"), "\n" + found.slice(0, 6).map(line).join("\n") + more + "\n", small(row.link.name)];
}

function memoryText(row, time) {
  const {node} = row;
  let low = 0, high = node.count;
  while (low < high) { const middle = (low + high) >> 1; if (node.at[middle] <= time) low = middle + 1; else high = middle; }
  if (!low) return null;
  const bytes = uses.map((_, use) => node.bytes[use][low - 1]);
  const free = Math.max(0, node.capacity - bytes.reduce((a, b) => a + b, 0));
  return [bold(node.name), "\n" + uses.map((name, use) => name + " " + stored(bytes[use])).join("\n") + "\nfree " + stored(free) + "\n", small("at " + moment(time, (view.to - view.from) / 1000))];
}

function textAt(px, py) {
  if (px < gutter || px > gutter + width) return null;
  const row = rows.find((one) => py >= one.y && py < one.y + one.height);
  if (!row) return null;
  const from = timeAt(px - 0.5), to = timeAt(px + 0.5);
  if (row.kind === "worker") return taskText(row, from, to, py);
  if (row.kind === "traffic" || row.kind === "copies") return copyText(row, from, to, py);
  if (row.kind === "memory") return memoryText(row, timeAt(px));
  if (row.kind !== "phases") return null;
  const phase = info.phases.find((one) => one.start <= to && one.end >= from);
  return phase ? [bold(phase.name), "\n", small(when(phase.start, phase.end) + "; double click shows it alone")] : null;
}

const crossPaint = cross.getContext("2d");
function hideTip() {
  tip.hidden = true;
  crossPaint.setTransform(1, 0, 0, 1, 0, 0);
  crossPaint.clearRect(0, 0, cross.width, cross.height);
}
function markAt(px, until = px) {
  crossPaint.setTransform(ratio, 0, 0, ratio, 0, 0);
  crossPaint.clearRect(0, 0, cross.width, cross.height);
  crossPaint.fillStyle = colours.soft;
  crossPaint.globalAlpha = until === px ? 0.7 : 0.25;
  crossPaint.fillRect(Math.min(px, until), 0, Math.max(1, Math.abs(until - px)), height);
}
function hover(px, py) {
  hideTip();
  if (px < gutter || px > gutter + width) return;
  markAt(px);
  const text = textAt(px, py);
  if (!text) return;
  tip.replaceChildren(...text);
  tip.hidden = false;
  const left = px + 14 + tip.offsetWidth > chart.clientWidth ? px - 14 - tip.offsetWidth : px + 14;
  tip.style.left = Math.max(0, left) + "px";
  tip.style.top = Math.min(py + 14, Math.max(0, height - tip.offsetHeight)) + "px";
}

// ---- mouse

let drag = null, active = false;
const place = (event) => { const r = plot.getBoundingClientRect(); return [event.clientX - r.left, event.clientY - r.top]; };
plot.addEventListener("pointerdown", (event) => {
  if (event.button !== 0) return;
  const [px] = place(event);
  active = true;
  plot.setPointerCapture(event.pointerId);
  drag = {px, from: view.from, to: view.to, span: event.shiftKey};
  if (!drag.span) plot.classList.add("drag");
});
plot.addEventListener("pointermove", (event) => {
  const [px, py] = place(event);
  if (!drag) return hover(px, py);
  if (drag.span) { hideTip(); return markAt(drag.px, px); }
  const by = (drag.px - px) / width * (drag.to - drag.from);
  if (Math.abs(drag.px - px) > 2) show(...shifted(drag, by));
});
const shifted = (from, by) => {
  by = Math.min(Math.max(by, whole.from - from.from), whole.to - from.to);
  return [from.from + by, from.to + by];
};
plot.addEventListener("pointerup", (event) => {
  const [px] = place(event);
  if (drag && drag.span && Math.abs(px - drag.px) > 4) show(timeAt(Math.min(px, drag.px)), timeAt(Math.max(px, drag.px)));
  drag = null;
  plot.classList.remove("drag");
});
plot.addEventListener("pointerleave", hideTip);
plot.addEventListener("blur", () => { active = false; });
plot.addEventListener("dblclick", (event) => {
  const [px, py] = place(event), time = timeAt(px);
  const phases = rows.find((row) => row.kind === "phases");
  const phase = phases && py < phases.y + phases.height && info.phases.find((one) => one.start <= time && one.end >= time);
  if (phase) show(phase.start, phase.end); else zoom(3, time);
});
plot.addEventListener("wheel", (event) => {
  if (Math.abs(event.deltaX) > Math.abs(event.deltaY)) { event.preventDefault(); return move(event.deltaX / width); }
  if (!event.ctrlKey && !event.metaKey && !active) return;  // the page scrolls
  event.preventDefault();
  const [px] = place(event);
  zoom(Math.exp(-Math.max(-100, Math.min(100, event.deltaY)) / 260), timeAt(Math.max(gutter, px)));
}, {passive: false});

// ---- keys and buttons

plot.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  const keys = {"+": () => zoom(1.6), "=": () => zoom(1.6), w: () => zoom(1.6), "-": () => zoom(1 / 1.6), s: () => zoom(1 / 1.6),
    ArrowLeft: () => move(-0.2), a: () => move(-0.2), ArrowRight: () => move(0.2), d: () => move(0.2),
    PageUp: () => move(-0.9), PageDown: () => move(0.9), 0: () => show(whole.from, whole.to), Home: () => show(whole.from, whole.to),
    Escape: () => plot.blur()};
  if (!keys[event.key]) return;
  event.preventDefault();
  keys[event.key]();
});
press("in", () => zoom(1.6));
press("out", () => zoom(1 / 1.6));
press("all", () => show(whole.from, whole.to));
for (const phase of info.phases) {
  const button = document.createElement("button");
  button.textContent = phase.name;
  button.title = "Show this part of the run alone";
  button.addEventListener("click", () => show(phase.start, phase.end));
  document.getElementById("spans").append(button);
}

const legend = document.getElementById("legend");
const busy = busyOf.reduce((a, b) => a + b, 0) || 1;
const recolouring = [];
const chips = byTime.map((codelet) => {
  const chip = document.createElement("button"), mark = document.createElement("i");
  recolouring.push(() => { mark.style.background = colourOf(codelet); });
  const share = busyOf[codelet] / busy * 100;
  chip.append(mark, info.codelets[codelet], small((share < 1 ? share.toPrecision(1) : share.toFixed(0)) + " %"));
  chip.title = "Show these tasks alone, or all again";
  chip.setAttribute("aria-pressed", "false");
  chip.addEventListener("click", () => {
    only = only === codelet ? -1 : codelet;
    chips.forEach((one) => one.setAttribute("aria-pressed", String(one === chip && only >= 0)));
    redraw();
  });
  return chip;
});
if (workers.some(({waits}) => waits.forData.some((is) => is))) {
  const chip = document.createElement("span"), mark = document.createElement("i");
  mark.style.cssText = "background:var(--wait);opacity:.4;margin-left:8px";
  chip.append(mark, "waiting for data");
  chips.push(chip);
}
legend.append(...chips);
document.getElementById("notes").textContent = info.notes.join(" ");

onColours(() => { hideTip(); readColours(); recolouring.forEach((paintChip) => paintChip()); draw(); });
addEventListener("resize", () => { hideTip(); redraw(); });
)js";

}  // namespace fairlead::report::html
