// The visible span of time.

function show(from, to) {
  const least = 20, all = whole.to - whole.from;
  const span = Math.min(all, Math.max(least, to - from));
  const begin = Math.min(Math.max(whole.from, (from + to - span) / 2), whole.to - span);
  view = {from: begin, to: begin + span};
  redraw();
  hideTip();
}
const zoom = (factor, at = (view.from + view.to) / 2) =>
  show(at - (at - view.from) / factor, at + (view.to - at) / factor);
// A span shifted by the requested distance, limited to the run.
const shifted = ({from, to}, by) => {
  const within = Math.min(Math.max(by, whole.from - from), whole.to - to);
  return [from + within, to + within];
};
const move = (part) => show(...shifted(view, part * (view.to - view.from)));
