// The chart of a run: all its rows, from top to bottom.

function drawAxis(row) {
  const step = Math.max(1, roundStep(view.to - view.from, ticksIn(width)));
  drawTicks({box, label}, {ticks: ticksBetween(view.from, view.to, step), text: (time) => moment(time, step), at: x,
    top: row.y + row.height, bottom: height, left: gutter, right: gutter + width});
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

function drawTitle(row) {
  label(row.text, 0, row.y + 11);
  row.names.forEach((name, i) => {
    const [left, down] = row.places[i];
    drawLegendEntry({box, frame, label}, name, colours[row.colour][i], left, row.y + down + 6);
  });
}

let ratio = 1, asked = false;
const drawers = {phases: drawPhases, axis: drawAxis, worker: drawWorker, title: drawTitle, traffic: drawTraffic,
  copies: drawCopies, memory: drawMemory};
function draw() {
  asked = false;
  ratio = dotsPerPixel();
  const wide = chart.clientWidth;
  layout(wide);
  width = Math.max(60, wide - gutter - 2);
  for (const canvas of [plot, cross]) sizeCanvas(canvas, wide, height);
  box(colours.paper, 0, 0, wide, height);
  for (const row of rows) drawers[row.kind](row);
}
const redraw = () => { if (!asked) { asked = true; requestAnimationFrame(draw); } };
