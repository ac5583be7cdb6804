// Draws the workers of all runs below each other, on one time axis.

Object.assign(timelines, (() => {
  const {about, runs, ofKind, time} = timelines;
  const kinds = rankKinds(ofKind), canvas = document.getElementById("timeline-plot");
  const {box, label, widthOf, fitted} = penOn(canvas);
  const many = Math.max(...runs.map((run) => run.rows.length));
  const tall = many <= 8 ? 24 : many <= 24 ? 13 : 6, gap = many <= 24 ? 3 : 1, top = 18;
  let places = [], heads = [], height = 0, gutter = 0, width = 0, ofKinds = [];

  function layout(wide) {
    const widest = Math.max(...runs.flatMap((run) => run.workers.map((name) => widthOf(name))));
    gutter = tall < 12 ? 0 : Math.ceil(Math.min(0.3 * wide, 12 + widest));
    width = wide - gutter - 1;
    places = [];
    heads = [];
    height = top + 2;
    for (const run of runs) {
      heads.push({run, middle: height + 11});
      height += 22;
      for (const row of run.rows) { places.push({run, row, y: height}); height += tall + gap; }
      height += 8;
    }
  }

  const at = (seconds) => gutter + seconds / about.seconds * width;

  function drawHead({run, middle}) {
    label(run.name, 0, middle, colours.ink, "left", 13, "600");
    label(time(run.seconds) + (run.limit ? ", limited by " + run.limit : ""), widthOf(run.name, 13, "600") + 10, middle);
  }
  function drawRow({run, row, y}) {
    if (gutter) label(fitted(row.name, gutter - 6), 0, y + tall / 2);
    box(colours.empty, gutter, y, at(run.seconds), y + tall);
    const step = width / about.steps;
    for (const [begin, end, shares] of row.pieces) {
      let bottom = y + tall;
      for (const [kind, share] of shares) {
        const high = Math.min(bottom - y, share / 100 * tall);
        box(ofKinds[kind], gutter + begin * step, bottom - high, gutter + end * step + 0.05, bottom);
        bottom -= high;
      }
    }
  }

  function draw() {
    layout(canvas.clientWidth);
    sizeCanvas(canvas, canvas.clientWidth, height);
    const step = roundStep(about.seconds, ticksIn(width));
    drawTicks({box, label}, {ticks: ticksBetween(0, about.seconds, step), text: time, at, top, bottom: height,
      left: gutter, right: gutter + width});
    heads.forEach(drawHead);
    places.forEach(drawRow);
    if (about.at_best > 0 && about.at_best <= about.seconds)
      for (let y = top; y < height; y += 6) box(colours.ink, at(about.at_best), y, at(about.at_best) + 1.5, y + 3);
  }

  press("timeline-save", () => savePicture("timelines", canvas, draw));

  // The item under a point of the canvas, {run, row, step}; null if there is none.
  function under(x, y) {
    const place = places.find((one) => y >= one.y && y < one.y + tall), step = Math.floor((x - gutter) / width * about.steps);
    return place && step >= 0 && step < about.steps ? {...place, step} : null;
  }

  onColours(() => {
    ofKinds = kinds.colours();
    const shown = kinds.order.filter((kind) => ofKind[kind] > 0);
    document.getElementById("timeline-legend").replaceChildren(
      ...shown.map((kind) => legendEntry("span", ofKinds[kind], about.kinds[kind])));
    draw();
  });
  addEventListener("resize", draw);
  return {canvas, under, places: () => places, colourOf: (kind) => ofKinds[kind]};
})());
