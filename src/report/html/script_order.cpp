// The page's script: the order in which tasks began, read from what order_data.cpp wrote, and drawn over the
// tiles, iteration by iteration.
#include "report/html/parts.hpp"

namespace fairlead::report::html {

const std::string_view script_order = R"js(
const order = (() => {
  const about = namesIn("order-names"), from = reader("order-numbers");
  const count = about.tasks, none = 0xffffffff;
  const kernel = new Int16Array(count).fill(-1), iteration = new Int32Array(count);
  const row = new Int32Array(count), column = new Int32Array(count);
  const tasksOf = new Map();  // those drawn, by iteration
  for (let task = 0, k = 0, i = 0, j = 0; task < count; ++task) {
    const what = from.next();
    if (!what) continue;
    kernel[task] = what - 1;
    iteration[task] = k += from.signed();
    row[task] = i += from.signed();
    column[task] = j += from.signed();
    if (!tasksOf.has(k)) tasksOf.set(k, []);
    tasksOf.get(k).push(task);
  }
  const iterations = [...tasksOf.keys()].sort((a, b) => a - b);
  const runs = about.runs.map((name) => {
    const place = new Uint32Array(count).fill(none), device = new Uint16Array(count);
    const last = about.devices.map(() => 0), length = from.next();
    for (let position = 0; position < length; ++position) {
      const on = about.devices.length > 1 ? from.next() : 0;
      const task = last[on] += from.signed();
      place[task] = position;
      device[task] = on;
    }
    return {name, place, device};
  });

  // What is shown: device -1 is all of them as one, each: a picture for each.
  const state = {runs: runs.map((_, run) => run), devices: [-1], first: 0, shown: 4, span: 1000};

  // ---- colours: red, green, blue, yellow, magenta, cyan, orange, and again; each from light to dark
  const hues = [[2, 84], [128, 62], [222, 82], [52, 92], [304, 70], [184, 84], [27, 96]], steps = 64;
  const names = ["red", "green", "blue", "yellow", "magenta", "cyan", "orange"];
  const shades = hues.map(([hue, much]) => Array.from({length: steps}, (_, i) =>
    `hsl(${hue} ${much}% ${(84 - 52 * i / (steps - 1)).toFixed(1)}%)`));
  const colourAt = (position) => shades[Math.floor(position / state.span) % hues.length]
    [Math.floor(position % state.span * steps / state.span)];

  // The tasks of an iteration on its tiles, as one run had them: of several on one tile, the first.
  function grid(run, device, k) {
    const {place, device: ran} = runs[run], cells = new Int32Array(about.rows * about.columns).fill(-1);
    for (const task of tasksOf.get(k) || []) {
      if (place[task] === none || (device >= 0 && ran[task] !== device)) continue;
      const at = row[task] * about.columns + column[task];
      if (cells[at] < 0 || place[task] < place[cells[at]]) cells[at] = task;
    }
    return cells;
  }

  // ---- drawing: a canvas for each run and device, the iterations beside each other
  const holder = document.getElementById("order-pictures");
  const side = Math.sqrt(about.memory_tiles), marked = side <= Math.min(about.rows, about.columns);
  const gap = 22, head = 20;
  let pictures = [];

  function drawPicture({canvas, run, device}) {
    const dots = window.devicePixelRatio || 1, wide = canvas.clientWidth;
    const shown = Math.min(state.shown, iterations.length);
    const room = (wide - (shown - 1) * gap) / shown;
    // Whole pixels of the screen, so that squares are alike.
    const exact = Math.min(room / about.columns, 26, 1100 / about.rows) * dots;
    const cell = (exact >= 1 ? Math.floor(exact) : exact) / dots, line = cell * dots >= 5 ? 1 / dots : 0;
    const tall = head + about.rows * cell + 2;
    canvas.style.height = tall + "px";
    canvas.width = Math.round(wide * dots);
    canvas.height = Math.round(tall * dots);
    const paint = canvas.getContext("2d"), style = getComputedStyle(document.documentElement);
    const of = (name) => style.getPropertyValue("--" + name).trim();
    paint.scale(dots, dots);
    paint.font = "12px system-ui, sans-serif";
    paint.textBaseline = "middle";
    const panels = [];
    iterations.slice(state.first, state.first + shown).forEach((k, at) => {
      const left = Math.round(at * (about.columns * cell + gap) * dots) / dots, cells = grid(run, device, k);
      panels.push({k, left, cells});
      paint.fillStyle = of("empty");
      for (let i = 0; i < about.rows; ++i)
        paint.fillRect(left, head + i * cell, (about.lower_triangle ? Math.min(i + 1, about.columns) : about.columns) * cell - line, Math.max(cell - line, 1 / dots));
      let drawn = 0;
      for (let at = 0; at < cells.length; ++at) {
        if (cells[at] < 0) continue;
        ++drawn;
        paint.fillStyle = colourAt(runs[run].place[cells[at]]);
        const i = Math.floor(at / about.columns), j = at % about.columns;
        paint.fillRect(left + j * cell, head + i * cell, Math.max(cell - line, 1 / dots), Math.max(cell - line, 1 / dots));
      }
      paint.fillStyle = of("soft");
      paint.fillText("iteration " + (k + 1), left, 9);
      if (!marked) return;
      paint.strokeStyle = of("ink");
      paint.lineWidth = 1.5;
      paint.strokeRect(left + (about.columns - side) * cell - 1, head + 1, side * cell, side * cell);
    });
    canvas.panels = {cell, list: panels};
  }

  function draw() {
    for (const picture of pictures) drawPicture(picture);
  }

  function arrange() {
    pictures = [];
    const figures = [];
    for (const run of state.runs)
      for (const device of state.devices) {
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
        figures.push(figure);
        pictures.push({canvas, run, device});
      }
    holder.replaceChildren(...figures);
    draw();
  }

  // The task under a point of a canvas, or nothing: [task, run].
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
  const textOf = (task, run) => [bold(about.kernels[kernel[task]]), ` \u2192 ${about.matrix}[${row[task]},${column[task]}]\n`,
    small(`${(runs[run].place[task] + 1).toLocaleString("en")} of ${count.toLocaleString("en")}, ` +
      `iteration ${iteration[task] + 1}` +
      (about.devices.length > 1 ? ", " + about.devices[runs[run].device[task]] : ""))];

  return {about, runs, iterations, state, names, shades, marked, holder, arrange, draw, grid, taskAt, textOf, colourAt, head,
    pictures: () => pictures, tasksOf};
})();
)js";

}  // namespace fairlead::report::html
