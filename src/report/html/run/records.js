// Decodes the records of a run, in the order in which chart_data.cpp encodes them.

const info = namesIn("names");
const numbers = reader("numbers");

// Bisection: the first of `count` items for which `before` is false; it must be true for all earlier ones.
const bisect = (count, before) => {
  let low = 0, high = count;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (before(middle)) low = middle + 1; else high = middle;
  }
  return low;
};

// Intervals, in order of their start. reach[i] is the latest end up to i. It is monotonic,
// so bisection finds the visible intervals although they overlap.
class Intervals {
  constructor(count) {
    this.count = count;
    this.start = new Float64Array(count);
    this.end = new Float64Array(count);
    this.reach = new Float64Array(count);
    this.lanes = 1;
    this.last = 0;
  }
  readTimes(i) {
    this.start[i] = this.last + numbers.signed();
    this.end[i] = this.start[i] + numbers.next();
    this.last = this.end[i];
    this.reach[i] = i ? Math.max(this.reach[i - 1], this.end[i]) : this.end[i];
  }
  readLane(i) {
    this.lane[i] = numbers.next();
    this.lanes = Math.max(this.lanes, this.lane[i] + 1);
  }
  // The first interval that may extend beyond `time`.
  from(time) { return bisect(this.count, (i) => this.reach[i] < time); }
}

const workers = info.workers.map((name) => {
  const tasks = new Intervals(numbers.next());
  tasks.lane = new Uint16Array(tasks.count);
  tasks.codelet = new Uint16Array(tasks.count);
  tasks.failed = new Uint8Array(tasks.count);
  tasks.merged = new Float64Array(tasks.count);  // number of tasks merged into one; 1: a single task
  tasks.busy = new Float64Array(tasks.count);
  tasks.dataAt = new Uint32Array(tasks.count);
  const data = [];
  for (let i = 0; i < tasks.count; ++i) {
    tasks.readTimes(i);
    tasks.readLane(i);
    const what = numbers.next();
    tasks.codelet[i] = what >> 2;
    tasks.failed[i] = (what >> 1) & 1;
    if (what & 1) {
      tasks.merged[i] = numbers.next();
      tasks.busy[i] = numbers.next();
      continue;
    }
    tasks.merged[i] = 1;
    tasks.busy[i] = tasks.end[i] - tasks.start[i];
    tasks.dataAt[i] = data.length;
    const used = numbers.next();
    data.push(used);
    for (let k = Math.min(3, used >> 3); k > 0; --k) data.push(numbers.next());
  }
  return {name, tasks, data: Uint32Array.from(data)};
});

for (const worker of workers) {
  const waits = new Intervals(numbers.next());
  waits.forData = new Uint8Array(waits.count);
  for (let i = 0; i < waits.count; ++i) {
    waits.readTimes(i);
    waits.forData[i] = numbers.next();
  }
  worker.waits = waits;
}

const links = info.directions.map((name) => {
  const copies = new Intervals(numbers.next());
  copies.lane = new Uint16Array(copies.count);
  copies.cause = new Uint8Array(copies.count);
  copies.failed = new Uint8Array(copies.count);
  copies.bytes = new Float64Array(copies.count);
  copies.merged = new Float64Array(copies.count);
  copies.datum = new Uint32Array(copies.count);
  copies.passes = new Map();  // copies that start or end beyond this link: source and destination
  for (let i = 0; i < copies.count; ++i) {
    copies.readTimes(i);
    copies.readLane(i);
    const what = numbers.next();
    copies.cause[i] = what >> 3;
    copies.failed[i] = (what >> 1) & 1;
    copies.bytes[i] = numbers.next();
    copies.merged[i] = what & 1 ? numbers.next() : 1;
    if (!(what & 1)) copies.datum[i] = numbers.next();
    if (what & 4) copies.passes.set(i, info.nodes[numbers.next()].name + " to " + info.nodes[numbers.next()].name);
  }
  return {name, copies};
});

const uses = ["by tasks", "prefetched", "leaving", "cached"];
const nodes = info.nodes.map((node) => {
  const count = numbers.next(), at = new Float64Array(count);
  const bytes = uses.map(() => new Float64Array(count));
  for (let i = 0, last = 0; i < count; ++i) {
    at[i] = last += numbers.signed();
    for (const use of bytes) use[i] = numbers.next() * info.memory_unit;
  }
  // The record that is valid at a time, or -1 before the first.
  const recordAt = (time) => bisect(count, (i) => at[i] <= time) - 1;
  return {...node, count, at, bytes, recordAt};
}).filter((node) => node.count > 0);
