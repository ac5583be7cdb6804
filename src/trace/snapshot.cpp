// Texts that all reports of a run share.
#include "trace/snapshot.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace fairlead::trace {

Time Snapshot::begin() const noexcept {
  Time first = Time::max();
  for (const auto& task : tasks) first = std::min(first, task.start());
  for (const auto& copy : copies) first = std::min(first, copy.start);
  for (const auto& transfer : transfers) first = std::min(first, transfer.start);
  for (const auto& phase : phases) first = std::min(first, phase.start);
  return first == Time::max() ? Time{} : first;
}

Time Snapshot::end() const noexcept {
  Time last{};
  for (const auto& task : tasks) last = std::max(last, task.end());
  for (const auto& copy : copies) last = std::max(last, copy.end());
  for (const auto& transfer : transfers) last = std::max(last, transfer.end());
  for (const auto& phase : phases) last = std::max(last, phase.end);
  return last;
}

std::string data_text(const Snapshot& snapshot, const TaskRecord& task) {
  std::string read, changed;
  for (std::size_t i = 0; i < task.kept(); ++i) {
    std::string& list = task.changed(i) ? changed : read;
    if (!list.empty()) list += ", ";
    list += snapshot.data.at(index(task.data[i])).name;
  }
  std::string text = read;
  if (!changed.empty()) text += (read.empty() ? "-> " : " -> ") + changed;
  if (task.kept() < task.data_count) text += fmt::format(" and {} more", task.data_count - task.kept());
  return text;
}

std::string direction_text(const Snapshot& snapshot, const CopyRecord& copy) {
  const Snapshot::Link& link = snapshot.links[index(copy.link)];
  std::string from = snapshot.nodes[index(link.first)].name, to = snapshot.nodes[index(link.second)].name;
  if (!copy.away_from_home) std::swap(from, to);
  const std::string ends = from + " to " + to;
  return link.name == from || link.name == to ? ends : link.name + ": " + ends;
}

bool is_whole_way(const Snapshot& snapshot, const CopyRecord& copy) {
  const Snapshot::Link& link = snapshot.links[index(copy.link)];
  return copy.from == (copy.away_from_home ? link.first : link.second) &&
         copy.to == (copy.away_from_home ? link.second : link.first);
}

std::string dropped_text(const Snapshot& snapshot) {
  const Dropped& dropped = snapshot.dropped;
  if (dropped.all() == 0) return {};
  std::string what;
  const auto add = [&what](std::uint64_t count, std::string_view one, std::string_view many) {
    if (count == 0) return;
    if (!what.empty()) what += ", ";
    what += fmt::format("{} {}", count, count == 1 ? one : many);
  };
  add(dropped.tasks, "task", "tasks");
  add(dropped.copies, "copy", "copies");
  add(dropped.memory, "change of memory", "changes of memory");
  add(dropped.waits, "wait", "waits");
  add(dropped.transfers, "value between ranks", "values between ranks");
  return fmt::format(
      "The trace is not complete before {:.3f} s: {} were dropped to keep within {} MiB. "
      "--trace-memory allows more.",
      seconds(snapshot.complete_from), what, snapshot.memory_limit >> 20);
}

}  // namespace fairlead::trace
