// Builds the dependency graph of a recording. See recorded_tasks.hpp.
#include "front/recording/recorded_tasks.hpp"

#include <fairlead/codelet_info.hpp>

#include <algorithm>

namespace fairlead::front {

namespace {
constexpr std::size_t families_looked_at = 16;  // the last ones, because programs repeat similar tasks
}

RecordedTasks::~RecordedTasks() {
  for (const std::uint32_t place : places_) {
    graph::RecordedTask& task = run.blocks.at(place);
    if (task.family == nullptr) continue;
    const CodeletInfo& codelet = *task.own_family().traits.codelet;
    if (codelet.destroy_closure != nullptr) codelet.destroy_closure(task.closure());
  }
}

std::uint32_t RecordedTasks::use_of(engine::RegisteredDatum& datum) {
  const auto [place, is_new] = use_of_.try_emplace(&datum, static_cast<std::uint32_t>(uses_.size()));
  if (is_new) {
    run.uses.push_back({nullptr, datum.id, false});
    Use& use = uses_.emplace_back();
    use.datum = &datum;
    use.generation = datum.generation;
  }
  return place->second;
}

bool RecordedTasks::writes(const engine::RegisteredDatum& datum) const {
  const auto found = use_of_.find(&datum);
  return found != use_of_.end() && uses_[found->second].written;
}

const graph::RecordedFamily& RecordedTasks::family_of(const TaskTraits& traits, std::size_t accesses) {
  const auto closure_at = static_cast<std::uint32_t>(graph::RecordedTask::closure_at(accesses));
  const std::size_t looked_at = std::min(families_.size(), families_looked_at);
  for (std::size_t i = families_.size() - looked_at; i < families_.size(); ++i)
    if (families_[i].traits == traits && families_[i].closure_at == closure_at) return families_[i];
  graph::RecordedFamily& family = families_.emplace_back();
  family.source = &source_;
  family.closure_at = closure_at;
  family.urgent = traits.priority > 0;
  family.traits = traits;
  family.may_pass = engine::is_eligible_for_fast_path(traits);
  return family;
}

std::byte* RecordedTasks::add(const TaskTraits& traits, std::span<const Insertion> insertions) {
  last_family_ = &family_of(traits, insertions.size());
  const std::uint32_t place = run.blocks.add(insertions.size(), std::max(traits.codelet->closure_bytes, 1u));
  graph::RecordedTask& task = run.blocks.at(place);
  task.number = static_cast<std::uint32_t>(places_.size());
  places_.push_back(place);
  task.access_count = static_cast<std::uint16_t>(insertions.size());
  std::size_t at = 0;
  for (const Insertion& insertion : insertions) {
    const std::uint32_t number = use_of(*insertion.datum);
    task.set_access(at++, {number, insertion.mode});
    Use& use = uses_[number];
    if (insertion.mode == AccessMode::read) {
      if (use.writer != no_task) edges_.emplace_back(use.writer, place);
      use.readers.push_back(place);
    } else {
      if (use.readers.empty() && use.writer != no_task) edges_.emplace_back(use.writer, place);
      for (const std::uint32_t reader : use.readers) edges_.emplace_back(reader, place);
      use.readers.clear();
      use.writer = place;
      use.written = true;
    }
  }
  return task.closure();
}

void RecordedTasks::seal() {
  for (const auto& [before, after] : edges_) {
    ++run.blocks.at(before).successor_count;
    ++run.blocks.at(after).predecessors;
  }
  std::uint32_t begin = 0;
  for (const std::uint32_t place : places_) {
    graph::RecordedTask& task = run.blocks.at(place);
    task.wait = task.predecessors;
    if (task.predecessors == 0) run.initial.push_back(place);
    if (task.successor_count <= graph::RecordedTask::own_successors) continue;
    task.successors[0] = begin;
    begin += task.successor_count;
  }
  run.successors.resize(begin);
  std::vector<std::uint32_t> seen(places_.size());
  for (const auto& [before, after] : edges_) {
    graph::RecordedTask& task = run.blocks.at(before);
    std::uint32_t* const list = task.successor_count <= graph::RecordedTask::own_successors
                                    ? task.successors.data()
                                    : &run.successors[task.successors[0]];
    list[seen[task.number]++] = after;
  }
  edges_ = {};
  use_of_ = {};
  for (Use& use : uses_) use.readers = {};
  sealed_ = true;
}

void RecordedTasks::prepare(std::uint32_t fast_path, std::uint64_t first_id, bool one_worker) {
  run.begin();
  run.made.clear();
  run.first_id = first_id;
  if (fast_path != run.fast_path || std::exchange(uses_changed, false)) {
    run.fast_path = fast_path;
    all_pass_ = fast_path != 0;
    for (const std::uint32_t place : places_) {
      graph::RecordedTask& task = run.blocks.at(place);
      task.passes = fast_path != 0 && task.own_family().may_pass;
      for (std::size_t i = 0; i < task.access_count; ++i)
        task.passes &= uses_[task.accesses()[i].use()].in_fast_path;
      all_pass_ &= task.passes;
    }
  }
  run.alone = one_worker && all_pass_;
}

}  // namespace fairlead::front
