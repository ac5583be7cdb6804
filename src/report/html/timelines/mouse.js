// The tooltip of the timelines: the activity of a worker at that time.

(() => {
  const {about, canvas, time} = timelines;
  const tip = document.getElementById("timeline-tip"), section = document.getElementById("timelines");
  canvas.addEventListener("pointermove", (event) => {
    const around = canvas.getBoundingClientRect(), frame = section.getBoundingClientRect();
    const found = timelines.under(event.clientX - around.left, event.clientY - around.top);
    tip.hidden = !found;
    if (!found) return;
    const {run, row, step} = found, piece = row.pieces.find(([begin, end]) => begin <= step && step < end);
    const what = piece ? piece[2].map(([kind, share]) => about.kinds[kind] + (share < 100 ? " " + share + " %" : "")).join(", ")
      : "no task";
    showTip(tip, section, [bold(what), "\n", small(`${run.name}, ${row.name}, at ${time(step / about.steps * about.seconds)}`)],
      event.clientX - frame.left, event.clientY - frame.top);
  });
  canvas.addEventListener("pointerleave", () => { tip.hidden = true; });
})();
