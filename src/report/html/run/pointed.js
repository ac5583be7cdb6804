// The text of the run chart's tooltip.

function taskText(row, from, to, y) {
  const {tasks, waits} = row.worker, found = [];
  const lane = Math.floor((y - row.y) / (row.height / tasks.lanes));
  for (let i = tasks.from(from); i < tasks.count && tasks.start[i] < to; ++i)
    if (tasks.end[i] >= from && tasks.lane[i] === lane) found.push(i);
  if (found.length === 1 && tasks.merged[found[0]] === 1) {
    const i = found[0];
    return [bold(info.codelets[tasks.codelet[i]]), " " + dataOf(row.worker, i) + "\n",
      small(when(tasks.start[i], tasks.end[i]) + ", " + row.worker.name + (tasks.failed[i] ? ", failed" : ""))];
  }
  if (found.length) return manyTasksText(row, found, from, to);
  for (let i = waits.from(from); i < waits.count && waits.start[i] < to; ++i)
    if (waits.end[i] >= from)
      return [bold(waits.forData[i] ? "waiting for data" : "waiting for tasks"), "\n",
        small(when(waits.start[i], waits.end[i]) + ", " + row.worker.name)];
  return null;
}

function manyTasksText(row, found, from, to) {
  const {tasks} = row.worker, ofKind = new Map();
  let count = 0;
  for (const i of found) {
    count += tasks.merged[i];
    const of = ofKind.get(tasks.codelet[i]) || {count: 0, busy: 0};
    ofKind.set(tasks.codelet[i], {count: of.count + tasks.merged[i], busy: of.busy + tasks.busy[i]});
  }
  const mostly = found.some((i) => tasks.merged[i] > 1);
  const list = [...ofKind].sort((a, b) => b[1].busy - a[1].busy).slice(0, 5)
    .map(([codelet, of]) => (mostly ? "mostly " : of.count + " ") + info.codelets[codelet] + ", " + duration(of.busy)).join("\n");
  return [bold(count + " tasks"), " in " + duration(to - from) + "\n" + list + "\n",
    small(row.worker.name + ", from " + moment(from, to - from))];
}

function copyText(row, from, to, y) {
  const {copies} = row.link, lane = row.kind === "copies" ? Math.floor((y - row.y - 2) / (row.height / copies.lanes)) : -1;
  const found = [];
  for (let i = copies.from(from); i < copies.count && copies.start[i] < to; ++i)
    if (copies.end[i] >= from && (lane < 0 || copies.lane[i] === lane)) found.push(i);
  if (!found.length) return null;
  const line = (i) => info.causes[copies.cause[i]] + " " +
    (copies.merged[i] > 1 ? copies.merged[i] + " copies" : info.data[copies.datum[i]]) +
    ", " + moved(copies.bytes[i]) + ", " + duration(copies.end[i] - copies.start[i]) + (copies.failed[i] ? ", failed" : "") +
    (copies.passes.has(i) ? " (" + copies.passes.get(i) + ")" : "");
  if (found.length === 1) {
    const start = copies.start[found[0]], length = copies.end[found[0]] - start;
    return [bold(line(found[0])), "\n", small("from " + moment(start, length / 10 || 1) + ", " + row.link.name)];
  }
  const more = found.length > 6 ? "\nand " + (found.length - 6) + " more" : "";
  return [bold(found.length + " copies"), "\n" + found.slice(0, 6).map(line).join("\n") + more + "\n", small(row.link.name)];
}

function memoryText({node}, time) {
  const record = node.recordAt(time);
  if (record < 0) return null;
  const bytes = node.bytes.map((use) => use[record]);
  const free = Math.max(0, node.capacity - bytes.reduce((a, b) => a + b, 0));
  return [bold(node.name), "\n" + uses.map((name, use) => name + " " + stored(bytes[use])).join("\n") +
    "\nfree " + stored(free) + "\n", small("at " + moment(time, (view.to - view.from) / 1000))];
}

function phaseText(from, to) {
  const phase = info.phases.find((one) => one.start <= to && one.end >= from);
  return phase ? [bold(phase.name), "\n", small(when(phase.start, phase.end) + "; double click shows it alone")] : null;
}

function textAt(px, py) {
  if (px < gutter || px > gutter + width) return null;
  const row = rows.find((one) => py >= one.y && py < one.y + one.height);
  if (!row) return null;
  const from = timeAt(px - 0.5), to = timeAt(px + 0.5);
  if (row.kind === "worker") return taskText(row, from, to, py);
  if (row.kind === "traffic" || row.kind === "copies") return copyText(row, from, to, py);
  if (row.kind === "memory") return memoryText(row, timeAt(px));
  return row.kind === "phases" ? phaseText(from, to) : null;
}
