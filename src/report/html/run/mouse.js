// Mouse actions on the run chart: pointing, dragging, zooming.

const crossPaint = cross.getContext("2d");
function hideTip() {
  tip.hidden = true;
  crossPaint.setTransform(1, 0, 0, 1, 0, 0);
  crossPaint.clearRect(0, 0, cross.width, cross.height);
}
// A line at the mouse, or the selected span.
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
  if (text) showTip(tip, chart, text, px, py);
}

let drag = null, active = false;  // active: the chart was clicked and handles the wheel
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
  if (Math.abs(drag.px - px) > 2) show(...shifted(drag, (drag.px - px) / width * (drag.to - drag.from)));
});
const endDrag = () => { drag = null; plot.classList.remove("drag"); };
plot.addEventListener("pointerup", (event) => {
  const [px] = place(event);
  if (drag && drag.span && Math.abs(px - drag.px) > 4) show(timeAt(Math.min(px, drag.px)), timeAt(Math.max(px, drag.px)));
  endDrag();
});
plot.addEventListener("pointercancel", endDrag);
plot.addEventListener("pointerleave", hideTip);
plot.addEventListener("blur", () => { active = false; });
plot.addEventListener("dblclick", (event) => {
  const [px, py] = place(event), time = timeAt(px);
  const row = rows.find((one) => one.kind === "phases");
  const phase = row && py < row.y + row.height && info.phases.find((one) => one.start <= time && one.end >= time);
  if (phase) show(phase.start, phase.end); else zoom(3, time);
});
plot.addEventListener("wheel", (event) => {
  if (Math.abs(event.deltaX) > Math.abs(event.deltaY)) { event.preventDefault(); return move(event.deltaX / width); }
  if (!event.ctrlKey && !event.metaKey && !active) return;  // the page scrolls
  event.preventDefault();
  const [px] = place(event);
  zoom(Math.exp(-Math.max(-100, Math.min(100, event.deltaY)) / 260), timeAt(Math.max(gutter, px)));
}, {passive: false});
