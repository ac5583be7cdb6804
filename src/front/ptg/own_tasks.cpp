// Enumerates tasks of this rank by inverting their placement.
#include "front/ptg/own_tasks.hpp"

#include <fairlead/error.hpp>

#include <fmt/format.h>

#include <utility>

#include "front/ptg/inverse.hpp"

namespace fairlead::ptg {

namespace {

/// Presents the data of a collection as a class of tasks with the data's indices, so that invert() applies.
struct DataAsTasks {
  ClassDefinition definition;
  TableClass table;

  explicit DataAsTasks(const CollectionDefinition& data) {
    definition.name = data.name;
    for (std::size_t i = 0; i < data.extents.size(); ++i) {
      const Index index(fmt::format("index {}", i));
      definition.indices.push_back(index.in(0, data.extents[i] - 1));
      table.parameters.push_back(table.places.add(index));
      table.bounds.push_back({0, data.extents[i] - 1});
    }
    table.definition = std::shared_ptr<const ClassDefinition>(std::shared_ptr<void>(), &definition);
  }
  DataAsTasks(const DataAsTasks&) = delete;
  DataAsTasks& operator=(const DataAsTasks&) = delete;
};

/// True if each task's placement names an existing datum. Otherwise all tasks are enumerated, so that the error is
/// found.
bool surely_exists(const TableClass& of, const CollectionDefinition& data) {
  const std::vector<Expression>& indices = of.definition->at->indices;
  for (std::size_t i = 0; i < indices.size(); ++i) {
    const Interval between = interval_of(indices[i], of.places, of.bounds);
    if (between.first < 0 || between.last >= data.extents[i]) return false;
  }
  return true;
}

/// The tasks that run at a datum, as an edge. Nothing if the placement cannot be inverted.
std::optional<ClassEdge> from_datum(const TableClass& of, const CollectionDefinition& data) {
  if (!surely_exists(of, data)) return std::nullopt;
  const DataAsTasks giver(data);
  FlowDefinition where;
  where.name = "at";
  where.inputs.push_back({.place = *of.definition->at});
  try {
    std::optional<ClassEdge> edge = invert({*of.definition, where, 0}, giver.table, of);
    if (edge && edge->loops.size() > Walk::most_loops) return std::nullopt;
    return edge;
  } catch (const UsageError&) {
    return std::nullopt;
  }
}

}  // namespace

OwnTasks::OwnTasks(const ClassTable& table, const RankPlacement& placement)
    : table_(table), placement_(placement), own_data_(table.collections.size()), walk_(table.stop) {
  for (std::size_t i = 0; i < table.collections.size(); ++i) {
    const CollectionDefinition& data = *table.collections[i];
    std::vector<std::int64_t> at(data.extents.size());
    for (const std::uint32_t owner : data.owners.all()) {
      if (net::RankId{owner} == placement.own()) own_data_[i].push_back(at);
      for (std::size_t k = 0; k < at.size() && ++at[k] == data.extents[k]; ++k) at[k] = 0;
    }
  }
  for (const TableClass& of : table.classes)
    classes_.push_back(
        {from_datum(of, *table.collections[of.runs_at->collection]), &own_data_[of.runs_at->collection]});
}

std::uint64_t OwnTasks::count() try {
  std::uint64_t tasks = 0;
  begin();
  while (next([](std::size_t) { return true; }, [](std::size_t, const std::int64_t*) { return true; }))
    ++tasks;
  return tasks;
} catch (const UsageError& error) {
  throw_in(table_.classes[class_], error);
}

/// Moves to the next datum with tasks, and to its first task. Returns false if no datum is left.
bool OwnTasks::enter(const OfClass& it) {
  while (at_ < it.data->size()) {
    const std::vector<std::int64_t>& indices = (*it.data)[at_++];
    std::copy(indices.begin(), indices.end(), found_.begin());
    if (it.from_datum->before(found_.data()) && walk_.begin(it.from_datum->loops, found_.data())) return true;
  }
  return false;
}

bool OwnTasks::find_next() {
  const TableClass& of = table_.classes[class_];
  const OfClass& it = classes_[class_];
  if (!it.from_datum) return find_next_of_all(of);
  for (;;) {
    inside_ = (inside_ && walk_.next(it.from_datum->loops, found_.data())) || enter(it);
    if (!inside_) return false;
    placement_.looks_at(1);
    if (!it.from_datum->after.empty() && !it.from_datum->holds(found_.data())) continue;
    std::array<std::int64_t, Walk::most_loops> parameters;
    it.from_datum->find_parameters(found_.data(), parameters.data());
    for (std::size_t i = 0; i < of.parameters.size(); ++i) numbers_[of.parameters[i]] = parameters[i];
    of.place_derived(numbers_.data());
    return true;
  }
}

bool OwnTasks::find_next_of_all(const TableClass& of) {
  for (;;) {
    inside_ = inside_ ? walk_.next(of.loops, numbers_.data()) : walk_.begin(of.loops, numbers_.data());
    if (!inside_) return false;
    placement_.looks_at(1);
    if (placement_.is_here(of, numbers_.data())) return true;
  }
}

}  // namespace fairlead::ptg
