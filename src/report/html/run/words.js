// Formats times, bytes and data of a run. A tick is the unit of time of the records.

const duration = (ticks) =>
  inUnits(ticks * info.tick_ns, [["s", 1e9], ["ms", 1e6], ["\u00b5s", 1e3]], (ns) => Math.round(ns) + " ns");
const moved = (bytes) => inUnits(bytes, [["GB", 1e9], ["MB", 1e6], ["kB", 1e3]], (few) => Math.round(few) + " B");
const stored = (bytes) => inUnits(bytes, [["GiB", 2 ** 30], ["MiB", 2 ** 20], ["KiB", 2 ** 10]], (few) => few + " B");

// A point in time, with enough digits to distinguish two that are `step` apart.
const moment = (ticks, step) => {
  const digits = -Math.floor(Math.log10(step * info.tick_ns * 1e-9) + 1e-9);
  return (ticks * info.tick_ns * 1e-9).toFixed(Math.min(9, Math.max(0, digits))) + " s";
};
const when = (start, end) => duration(end - start) + ", from " + moment(start, Math.max(1, end - start) / 10);

// The data that a task reads, then those that it changes.
const dataOf = (worker, i) => {
  const at = worker.tasks.dataAt[i], used = worker.data[at], count = used >> 3, kept = Math.min(3, count);
  const read = [], changed = [];
  for (let k = 0; k < kept; ++k)
    ((used >> k) & 1 ? changed : read).push(info.data[worker.data[at + 1 + k]]);
  return read.join(", ") + (changed.length ? " \u2192 " + changed.join(", ") : "") +
    (count > kept ? " and " + (count - kept) + " more" : "");
};
