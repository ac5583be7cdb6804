// Decodes the order in which tasks started, from the data of order_data.cpp: for each run, the tasks and their devices.

const order = (() => {
  const about = namesIn("order-names"), from = reader("order-numbers");
  const count = about.tasks, none = 0xffffffff;
  const kernel = new Int16Array(count).fill(-1), iteration = new Int32Array(count);
  const row = new Int32Array(count), column = new Int32Array(count);
  const tasksOf = new Map();  // tasks that are drawn, by iteration
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

  // The tasks of an iteration in one run, by tile: of several on one tile, the first. Device -1: all.
  function grid(run, device, k) {
    const {place, device: ran} = runs[run], cells = new Int32Array(about.rows * about.columns).fill(-1);
    for (const task of tasksOf.get(k) || []) {
      if (place[task] === none || (device >= 0 && ran[task] !== device)) continue;
      const at = row[task] * about.columns + column[task];
      if (cells[at] < 0 || place[task] < place[cells[at]]) cells[at] = task;
    }
    return cells;
  }

  const textOf = (task, run) => [bold(about.kernels[kernel[task]]), ` \u2192 ${about.matrix}[${row[task]},${column[task]}]\n`,
    small(`${(runs[run].place[task] + 1).toLocaleString("en")} of ${count.toLocaleString("en")}, ` +
      `iteration ${iteration[task] + 1}` +
      (about.devices.length > 1 ? ", " + about.devices[runs[run].device[task]] : ""))];

  return {about, runs, iterations, tasksOf, grid, textOf};
})();
