// Rows of workers. The cost of a frame is one pass over the visible tasks: tasks narrower than a pixel are
// accumulated, and the column of a pixel shows their shares.

let only = -1;  // the only kind of task shown, or -1 for all

const busyOf = new Float64Array(info.codelets.length);
for (const {tasks} of workers) for (let i = 0; i < tasks.count; ++i) busyOf[tasks.codelet[i]] += tasks.busy[i];
const kinds = rankKinds(busyOf);
let codeletColours = [];
const colourOf = (codelet) => codeletColours[codelet];
const shines = (codelet) => only < 0 || only === codelet;

function drawWaits({worker: {waits}, y, height: tall}) {
  paint.globalAlpha = 0.28;
  for (let i = waits.from(view.from); i < waits.count && waits.start[i] < view.to; ++i)
    if (waits.forData[i])
      box(colours.wait, Math.max(gutter, x(waits.start[i])), y, Math.min(gutter + width, x(waits.end[i])), y + tall);
  paint.globalAlpha = 1;
}

// The share of each kind of task in one pixel of the screen. `bottom`: of the lane.
class Column {
  constructor(bottom, lane, dot) {
    Object.assign(this, {bottom, lane, dot, pixel: -1, shares: new Float64Array(info.codelets.length)});
  }
  // `left` and `right` are in screen pixels; `full`: the busy fraction of the time in between.
  add(codelet, left, right, full) {
    const first = Math.floor(left), last = Math.max(first, Math.ceil(right) - 1);
    for (let pixel = first; pixel <= last; ++pixel) {
      if (pixel !== this.pixel) { this.draw(); this.pixel = pixel; }
      this.shares[codelet] += Math.max(Math.min(right, pixel + 1) - Math.max(left, pixel), 1e-6) * full;
    }
  }
  draw() {
    if (this.pixel < 0) return;
    const left = gutter + this.pixel * this.dot, all = this.shares.reduce((a, b) => a + b, 0);
    const scale = this.lane * Math.min(1, all) / all;
    let y = this.bottom;
    for (let codelet = 0; codelet < this.shares.length; ++codelet) {
      const tall = this.shares[codelet] * scale;
      if (!tall) continue;
      paint.globalAlpha = shines(codelet) ? 1 : 0.12;
      box(colourOf(codelet), left, y - tall, left + this.dot, y);
      y -= tall;
    }
    paint.globalAlpha = 1;
    this.pixel = -1;
    this.shares.fill(0);
  }
}

// Returns the tasks that are wide enough for a label: [task, left, right, top].
function drawTasks({worker: {tasks}, y: top, height: tall}) {
  const lane = tall / tasks.lanes, pixels = width / (view.to - view.from);
  const dot = 1 / dotsPerPixel();
  const columns = Array.from({length: tasks.lanes}, (_, k) => new Column(top + (k + 1) * lane, lane, dot));
  const wide = [];
  for (let i = tasks.from(view.from); i < tasks.count && tasks.start[i] < view.to; ++i) {
    const start = Math.max(view.from, tasks.start[i]), end = Math.min(view.to, tasks.end[i]);
    const left = (start - view.from) * pixels, right = (end - view.from) * pixels, k = tasks.lane[i];
    const codelet = tasks.codelet[i];
    if (right - left < 3 * dot) {
      columns[k].add(codelet, left / dot, right / dot, (tasks.busy[i] || 1) / (tasks.end[i] - tasks.start[i] || 1));
      continue;
    }
    columns[k].draw();
    const y = top + k * lane, full = tasks.merged[i] > 1 ? tasks.busy[i] / (tasks.end[i] - tasks.start[i]) : 1;
    paint.globalAlpha = shines(codelet) ? 1 : 0.12;
    const edge = right - left > 8 ? 0.75 : right - left > 5 ? 0.4 : 0;
    box(colourOf(codelet), gutter + left, y + lane * (1 - full), gutter + right - edge, y + lane);
    paint.globalAlpha = 1;
    if (tasks.failed[i]) box(colours.wait, gutter + left, y, gutter + right, y + 3);
    if (right - left > 34 && lane >= 12) wide.push([i, left, right, y]);
  }
  columns.forEach((column) => column.draw());
  return wide;
}

// The name of a task in its box, and its data if they fit.
function drawNames(row, wide) {
  const {tasks} = row.worker, lane = row.height / tasks.lanes;
  for (const [i, left, right, y] of wide) {
    const name = info.codelets[tasks.codelet[i]], many = tasks.merged[i] > 1;
    const text = many ? tasks.merged[i] + " tasks" : name;
    const room = right - left - 8, roomy = right - left > 150 && lane >= 20;
    if (!roomy && fitted(text, room) !== text) continue;
    const colour = shines(tasks.codelet[i]) ? inkOn(colourOf(tasks.codelet[i])) : colours.soft;
    const long = many ? text : name + " " + dataOf(row.worker, i);
    label(roomy ? fitted(long, room) : text, gutter + left + 4, y + lane / 2 + 0.5, colour);
  }
}

function drawWorker(row) {
  box(colours.empty, gutter, row.y, gutter + width, row.y + row.height);
  if (row.height >= 12) rowLabel(row.worker.name, row.y + row.height / 2, row.height >= 28 ? 2 : 1, true);
  drawWaits(row);
  drawNames(row, drawTasks(row));
}
