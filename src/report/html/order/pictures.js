// The order of tasks over the tiles: a canvas for each run and device, with iterations side by side.

Object.assign(order, (() => {
  const {about, runs, iterations, grid} = order;
  // The selection: device -1 shows all devices in one picture; each: one picture per device.
  const state = {runs: runs.map((_, run) => run), devices: [-1], first: 0, shown: 4, span: 1000};
  const holder = document.getElementById("order-pictures");
  const side = Math.sqrt(about.memory_tiles), marked = side <= Math.min(about.rows, about.columns);
  const gap = 22, head = 20;
  let pictures = [];

  function drawPanel({box, frame, label}, {left, cells, k}, run, cell, line, dots) {
    const tall = Math.max(cell - line, 1 / dots);
    for (let i = 0; i < about.rows; ++i) {
      const wide = (about.lower_triangle ? Math.min(i + 1, about.columns) : about.columns) * cell - line;
      box(colours.empty, left, head + i * cell, left + wide, head + i * cell + tall);
    }
    cells.forEach((task, at) => {
      if (task < 0) return;
      const y = head + Math.floor(at / about.columns) * cell, x = left + at % about.columns * cell;
      box(order.colourAt(runs[run].place[task], state.span), x, y, x + tall, y + tall);
    });
    label("iteration " + (k + 1), left, 9);
    if (!marked) return;
    const edge = left + (about.columns - side) * cell - 1;
    frame(colours.ink, edge - 0.75, head + 0.25, edge + side * cell + 0.75, head + side * cell + 1.75, 1.5);
  }

  function drawPicture({canvas, run, device}) {
    const dots = dotsPerPixel(), wide = canvas.clientWidth;
    const shown = Math.min(state.shown, iterations.length);
    const room = (wide - (shown - 1) * gap) / shown;
    // Rounded to screen pixels, so that all squares have the same size.
    const exact = Math.min(room / about.columns, 26, 1100 / about.rows) * dots;
    const cell = (exact >= 1 ? Math.floor(exact) : exact) / dots, line = cell * dots >= 5 ? 1 / dots : 0;
    sizeCanvas(canvas, wide, head + about.rows * cell + 2);
    const pen = penOn(canvas);
    const panels = iterations.slice(state.first, state.first + shown).map((k, at) => {
      const left = Math.round(at * (about.columns * cell + gap) * dots) / dots;
      return {k, left, cells: grid(run, device, k)};
    });
    for (const panel of panels) drawPanel(pen, panel, run, cell, line, dots);
    canvas.panels = {cell, list: panels};
  }

  function draw() {
    for (const picture of pictures) drawPicture(picture);
  }

  function figureOf(run, device) {
    const figure = document.createElement("figure"), canvas = document.createElement("canvas");
    const title = [...(runs.length > 1 ? [runs[run].name] : []), ...(device >= 0 ? [about.devices[device]] : [])].join(", ");
    canvas.setAttribute("role", "img");
    canvas.setAttribute("aria-label", "The order of the tasks over the tiles of " + about.matrix + (title ? ": " + title : ""));
    if (title) {
      const caption = document.createElement("figcaption");
      caption.textContent = title;
      figure.append(caption);
    }
    figure.append(canvas);
    return {figure, canvas, run, device};
  }
  // Updates the figures of the selection, without drawing.
  function arrange() {
    pictures = state.runs.flatMap((run) => state.devices.map((device) => figureOf(run, device)));
    holder.replaceChildren(...pictures.map(({figure}) => figure));
  }

  // The task under a point of a canvas, [task, run]; null if there is none.
  function taskAt({canvas, run}, x, y) {
    const {cell, list} = canvas.panels, i = Math.floor((y - head) / cell);
    for (const {left, cells} of list) {
      const j = Math.floor((x - left) / cell);
      if (i < 0 || i >= about.rows || j < 0 || j >= about.columns) continue;
      const task = cells[i * about.columns + j];
      return task < 0 ? null : [task, run];
    }
    return null;
  }

  const save = () => pictures.forEach((picture, i) => savePicture("order" + (i ? "-" + (i + 1) : ""), picture.canvas, () => drawPicture(picture)));

  return {state, marked, holder, head, arrange, draw, save, taskAt, pictures: () => pictures};
})());
