// Labels of tasks and data, and the hash table TupleIndex.
#include "front/unrolled/task_graph.hpp"

#include <fmt/format.h>
#include <algorithm>
#include <bit>

namespace fairlead::unrolled {

std::string label(std::string_view name, std::span<const std::int32_t> numbers) {
  return fmt::format("{}({})", name, fmt::join(numbers, ","));
}

std::string label(const TaskGraph& graph, TaskId task) {
  return label(graph.classes[graph.tasks[task].of].name, graph.parameters(task));
}

std::string label(const TaskGraph& graph, TaskId task, std::uint16_t flow) {
  return fmt::format("{} of {}", graph.flow(task, flow).name, label(graph, task));
}

std::string label(const TaskGraph& graph, const EdgeEnd& end) {
  switch (end.kind) {
    case EdgeEnd::Kind::task:
      return fmt::format("{} of {}", graph.classes[end.of].flows[end.of_flow].name,
                         label(graph.classes[end.of].name, graph.indices(end)));
    case EdgeEnd::Kind::memory:
      return label(graph.collections[end.of], graph.indices(end));
    case EdgeEnd::Kind::fresh:
      return "NEW";
    default:
      return "NULL";
  }
}

TupleIndex::TupleIndex(std::size_t expected)
    : slots_(std::bit_ceil(std::max<std::size_t>(expected, 8) * 2), none) {}

std::size_t TupleIndex::slot(std::uint32_t of, std::span<const std::int32_t> numbers) const {
  std::uint64_t hash = of + 0x9E3779B97F4A7C15ULL;
  for (const std::int32_t number : numbers) {
    hash ^= static_cast<std::uint32_t>(number);
    hash *= 0xBF58476D1CE4E5B9ULL;
    hash ^= hash >> 29U;
  }
  std::size_t at = hash & (slots_.size() - 1);
  while (slots_[at] != none) {
    const Entry& entry = entries_[slots_[at]];
    if (entry.of == of && std::ranges::equal(entry.numbers, numbers)) break;
    at = (at + 1) & (slots_.size() - 1);
  }
  return at;
}

std::uint32_t TupleIndex::add(std::uint32_t of, std::span<const std::int32_t> numbers) {
  if (entries_.size() * 2 >= slots_.size()) grow();
  const std::size_t at = slot(of, numbers);
  if (slots_[at] == none) {
    slots_[at] = size();
    entries_.push_back({of, numbers});
  }
  return slots_[at];
}

std::uint32_t TupleIndex::find(std::uint32_t of, std::span<const std::int32_t> numbers) const {
  return slots_[slot(of, numbers)];
}

void TupleIndex::grow() {
  slots_.assign(slots_.size() * 2, none);
  for (std::uint32_t i = 0; i < entries_.size(); ++i) slots_[slot(entries_[i].of, entries_[i].numbers)] = i;
}

}  // namespace fairlead::unrolled
