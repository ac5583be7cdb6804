// See rank_accesses.hpp.
#include "front/ranks/rank_accesses.hpp"

#include <algorithm>
#include <utility>

#include "base/check.hpp"
#include "base/exception_text.hpp"
#include "front/flow/pseudo_task.hpp"
#include "memory/location.hpp"

namespace fairlead::front {

namespace {
const CodeletInfo& payload_codelet() {
  static const CodeletInfo info = pseudo_codelet("a value for or from another rank");
  return info;
}
constexpr std::size_t names_taken = 4096;
}  // namespace

RankAccesses::RankAccesses(engine::RuntimeCore& core, TaskRole role,
                           std::function<void(std::uint64_t, const net::Spot&)> granted,
                           std::function<void(const std::string&)> refused)
    : core_(core),
      role_(role),
      granted_(std::move(granted)),
      refused_(std::move(refused)),
      next_id_(core.graph().take_ids(names_taken)) {
  id = core.sources().next_id();
}

RankAccesses::~RankAccesses() = default;

void RankAccesses::collect() {
  std::erase_if(ending_, [this](Record* record) {
    if (!record->is_unused()) return false;
    unused_.push_back(record);
    return true;
  });
}

RankAccesses::Record& RankAccesses::begin(std::uint64_t name, const Datum& datum, AccessMode mode,
                                          PlaceHint where) {
  Record* record = nullptr;
  {
    const std::lock_guard guard(mutex_);
    collect();
    if (unused_.empty()) {
      record = &records_.emplace_back();
      record->task.id = static_cast<TaskId>(next_id_ + records_.size() % names_taken);
    } else {
      record = unused_.front();
      unused_.pop_front();
    }
    record->name = name;
    record->is_granted = record->is_let_go = record->is_over = record->is_told = false;
    record->HoldRelease::granted = false;
    record->applied.store(false);
  }
  Task& task = record->task;
  static_cast<TaskTraits&>(task) = {};
  task.place = where;
  task.codelet = &payload_codelet();
  task.submitted_at = {"", 0};
  task.begin(task.id, &record->access, 1);
  task.family = &described;
  task.role = role_;
  task.failure = nullptr;
  task.policy_data = record;
  Access& access = record->access;
  access = {};
  access.task = &task;
  access.address = datum.address;
  access.datum = datum.id;
  access.mode = mode;
  access.packed = datum.packed;
  // Last: where all is given up, another thread lets go what it finds here.
  const std::lock_guard guard(mutex_);
  ensure(by_name_.emplace(name, record).second, "a value is held once for each purpose");
  ++uncounted_;
  return *record;
}

void RankAccesses::ask(std::uint64_t name, const Datum& datum, AccessMode mode, PlaceHint where) {
  Record& record = begin(name, datum, mode, where);
  core_.engine().entrance().post(record.task, EventKind::task_ready, no_id<WorkerId>, core_.world().now());
  core_.world().serve_for_others();
}

void RankAccesses::queue(std::uint64_t name, engine::RegisteredDatum& datum, AccessMode mode) {
  Record& record = begin(name, {.id = datum.id}, mode, {});
  const graph::Insertion insertion(&datum.tail, datum.id, mode);
  if (core_.graph().insert(record.task, {&insertion, 1}))
    core_.engine().entrance().post(record.task, EventKind::task_ready, no_id<WorkerId>, core_.world().now());
  core_.application().serve_surely();
}

void RankAccesses::granted(Task& access) {
  auto& record = *static_cast<Record*>(access.policy_data);
  engine::DrivenWorld& world = core_.world();
  std::unique_lock lock(mutex_);
  record.is_granted = !record.is_let_go;
  if (record.is_granted) {
    const std::uint64_t name = record.name;
    lock.unlock();
    net::Spot spot;
    if (role_ == TaskRole::visit) {
      const memory::Location at = memory::location_of(access, record.access);
      spot.address = world.address_of(at);
      if (at.node != no_id<NodeId>) spot.memory = world.device_memory(at.node);
    }
    granted_(name, spot);
    lock.lock();
  }
  record.is_told = true;
  const bool last = record.is_let_go;
  lock.unlock();  // afterwards we may be gone
  if (last) world.wake(engine::Who::application());
}

/// Who waits for none() looks again.
void RankAccesses::count(std::size_t accesses, Recycler&) {
  engine::DrivenWorld& world = core_.world();
  {
    const std::lock_guard guard(mutex_);
    uncounted_ -= accesses;
  }  // afterwards we may be gone
  world.wake(engine::Who::application());
}

void RankAccesses::let_go(std::uint64_t name, bool unused) {
  Record* record = nullptr;
  {
    const std::lock_guard guard(mutex_);
    const auto found = by_name_.find(name);
    if (found == by_name_.end()) return;
    record = found->second;
    ending_.push_back(record);  // throws before anything has changed
    by_name_.erase(found);
    record->is_let_go = true;
    record->unused = unused || !record->is_granted;
    if (record->is_over) {  // it was refused
      record->applied.store(true);
      return;
    }
    record->HoldRelease::hold = &record->task;
  }
  core_.engine().entrance().post(*record, EventKind::hold_released, no_id<WorkerId>, core_.world().now());
  core_.world().serve_for_others();
}

void RankAccesses::release(Task& over, ReadyTasks& ready) {
  auto& record = *static_cast<Record*>(over.policy_data);
  if (role_ == TaskRole::turn) graph::Graph::complete(over, ready.described, ready.recycler);
  bool refused = false;
  {
    const std::lock_guard guard(mutex_);
    record.is_over = true;
    refused = !record.is_let_go;
  }
  if (!refused) return;
  std::string why = "a value for or from another rank cannot be had";
  if (const std::string reason = over.failure != nullptr ? said_by(over.failure, "") : ""; !reason.empty())
    why += ": " + reason;
  refused_(why);
}

bool RankAccesses::none() const {
  const std::lock_guard guard(mutex_);
  return by_name_.empty() && uncounted_ == 0 && std::ranges::all_of(ending_, &Record::is_unused);
}

bool RankAccesses::any_of(DatumId datum) const {
  const std::lock_guard guard(mutex_);
  const auto is_of_it = [datum](const Record* record) { return record->access.datum == datum; };
  return std::ranges::any_of(by_name_, is_of_it, &decltype(by_name_)::value_type::second) ||
         std::ranges::any_of(ending_, [&](const Record* it) { return is_of_it(it) && !it->is_unused(); });
}

}  // namespace fairlead::front
