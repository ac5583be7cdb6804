// Follows the simulated bytes; see value_checker.hpp.
#include "random/value_checker.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace fairlead::random_runs {

namespace {
/// What is in a datum while a task changes it.
std::uint64_t half_written(std::size_t task, std::uint64_t before) {
  return Random::mix(before ^ (task << 20) ^ 7);
}
}  // namespace

ValueChecker::ValueChecker(const RandomProgram& program, std::size_t nodes)
    : program_(program), arenas_(nodes) {}

std::uint64_t ValueChecker::carried_by(const memory::Copy& copy) {
  if (copy.generator == nullptr) return *place(*copy.from);
  return program_.data[static_cast<std::size_t>(std::ranges::find(ids_, copy.datum.get()) - ids_.begin())]
      .initial;
}

void ValueChecker::copy_starts(const memory::Copy& copy) { flying_[&copy] = carried_by(copy); }

void ValueChecker::copy_ends(const memory::Copy& copy, bool succeeded) {
  std::uint64_t value = flying_[&copy];
  if (carried_by(copy) != value) {
    // A stale version may arrive torn; never the newest version.
    if (copy.version == engine_->memory().datum(copy.datum).version && succeeded)
      fail(fmt::format("datum {} changed while a copy ({}) read it", index(copy.datum), name_of(copy.cause)));
    value = Random::mix(value ^ carried_by(copy) ^ 99);
  }
  if (!succeeded) value = Random::mix(value + 13);
  *place(*copy.to) = value;  // a copy that failed leaves anything
  if (copy.via != nullptr) *place(*copy.via) = value;
}

void ValueChecker::task_starts(const Task& task, WorkerId worker) {
  if (engine_->memory().node(engine_->view().workers()[index(worker)].node).lost)
    fail(fmt::format("task {} begins on a device that is lost", planned(task)));
  count_passed(worker);
  if (task.role == TaskRole::fold) return fold_starts(task);
  const auto kind = engine_->view().workers()[index(worker)].kind;
  if (((program_.tasks[planned(task)].kinds >> static_cast<unsigned>(kind)) & 1) == 0)
    fail(fmt::format("task {} runs on a worker that cannot run it", planned(task)));
  begins(task);
}

void ValueChecker::begins(const Task& task) {
  const std::size_t t = planned(task);
  const PlannedTask& planned = program_.tasks[t];
  auto& seen = inputs_[t];
  if (!seen.empty()) fail(fmt::format("task {} runs twice", t));
  for (const std::size_t before : planned.after)
    if (!is_over(before)) fail(fmt::format("task {} runs before the end of {}", t, before));
  for (std::size_t i = 0; i < planned.uses.size(); ++i) {
    const PlannedUse& use = planned.uses[i];
    const DatumId id = target(task, use.datum);
    std::uint64_t* const here = place_for(task, id);
    const auto& access = *std::ranges::find(task.accesses(), ids_[use.datum], &Access::datum);
    const std::uint64_t value = access.fresh ? 0 : *here;
    seen.push_back(value);
    if (writes(use.mode)) *here = half_written(t, value);
    if (planned.expected_inputs[i] != 0 && value != planned.expected_inputs[i])
      fail(fmt::format("task {} read a wrong version of datum {} ({})", t, use.datum, name_of(use.mode)));
    if (writers_[id] != 0) fail(fmt::format("datum {} is used while it is being written", use.datum));
    if (writes(use.mode) && readers_[id] != 0)
      fail(fmt::format("datum {} is written while it is being read", use.datum));
    ++(writes(use.mode) ? writers_ : readers_)[id];
  }
}

void ValueChecker::fold_starts(const Task& fold) {
  ++folds_;
  for (const Access& access : fold.accesses())
    if (writers_[access.datum] != 0 || readers_[access.datum] != 0)
      fail(fmt::format("datum {} is folded while it is in use", index(access.datum)));
  ++writers_[fold.accesses()[0].datum];
  ++readers_[fold.accesses()[1].datum];
}

void ValueChecker::fold_ends(const Task& fold, bool succeeded) {
  const DatumId into = fold.accesses()[0].datum, from = fold.accesses()[1].datum;
  --writers_[into];
  --readers_[from];
  std::uint64_t& value = *place_for(fold, into);
  value = succeeded ? value + *place_for(fold, from) : Random::mix(value + 1);
}

void ValueChecker::task_ends(const Task& task, bool succeeded) {
  if (task.role == TaskRole::fold) return fold_ends(task, succeeded);
  const std::size_t t = planned(task);
  const PlannedTask& planned = program_.tasks[t];
  const auto& seen = inputs_[t];
  std::uint64_t hash = 0;
  for (std::size_t i = 0; i < planned.uses.size(); ++i) {
    const PlannedUse& use = planned.uses[i];
    const DatumId id = target(task, use.datum);
    --(writes(use.mode) ? writers_ : readers_)[id];
    if (*place_for(task, id) != (writes(use.mode) ? half_written(t, seen[i]) : seen[i]))
      fail(fmt::format("datum {} changed under task {}", use.datum, t));
    if (reads(use.mode) && !in_any_order(use.mode)) hash = Random::mix(hash ^ seen[i]);
  }
  for (std::size_t i = 0; i < planned.uses.size(); ++i) {
    const PlannedUse& use = planned.uses[i];
    if (!writes(use.mode)) continue;
    std::uint64_t& value = *place_for(task, target(task, use.datum));
    if (!succeeded) {
      value = Random::mix(value + 1);
    } else if (in_any_order(use.mode)) {
      value = seen[i] + contribution(t, use.datum);
    } else {
      value = output_of(t, use.datum, hash);
    }
  }
}

void ValueChecker::check_homes() {
  for (std::size_t d = 0; d < program_.data.size(); ++d) {
    if (program_.data[d].removed || engine_->memory().datum(ids_[d]).poisoned) continue;
    if (program_.data[d].generated && engine_->memory().datum(ids_[d]).version == 1) {
      if (home(ids_[d]) != rubbish) fail(fmt::format("datum {} was stored, though nothing wrote it", d));
      continue;
    }
    if (home(ids_[d]) != program_.data[d].final)
      fail(fmt::format("datum {} ends with a wrong value at home", d));
  }
}

/// A task starts on this worker: each task that waits for memory on the same node is passed once more.
void ValueChecker::count_passed(WorkerId started) {
  const auto workers = engine_->view().workers();
  waiting_.resize(workers.size());
  for (const WorkerInfo& worker : workers) {
    if (worker.node != workers[index(started)].node) continue;
    const engine::Pipeline& pipeline = engine_->pipelines()[worker.id];
    const Task* first = pipeline.tasks.empty() ? nullptr : &pipeline.tasks[0];
    Waiting& waiting = waiting_[index(worker.id)];
    const bool waits =
        first != nullptr && first->state == TaskState::picked &&
        std::ranges::none_of(first->accesses(), [](const Access& a) { return in_any_order(a.mode); });
    if (!waits) {
      waiting = {};
    } else if (waiting.task != first->id) {
      waiting = {first->id, 0};
    } else {
      longest_passed_ = std::max(longest_passed_, ++waiting.passed);
    }
  }
}

std::uint64_t* ValueChecker::place(const memory::Replica& replica) {
  if (engine_->memory().topology().nodes[index(replica.node)].role == NodeRole::home)
    return &home(replica.datum);
  return &arenas_[index(replica.node)][replica.block->offset];
}

DatumId ValueChecker::target(const Task& task, std::size_t datum) const {
  return engine_->memory().target(*std::ranges::find(task.accesses(), ids_[datum], &Access::datum));
}

std::uint64_t* ValueChecker::place_for(const Task& task, DatumId id) {
  const memory::Datum& state = engine_->memory().datum(id);
  if (engine_->memory().reaches(task.node, state.home.node)) return &home(id);
  for (const memory::Replica* replica = state.cached; replica != nullptr; replica = replica->next_of_datum)
    if (replica->node == task.node) {
      if (replica->state == ReplicaState::absent) fail("a task runs without space for its data");
      return place(*replica);
    }
  fail("a task runs without its data");
  return &home(id);
}

}  // namespace fairlead::random_runs
