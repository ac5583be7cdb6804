// See rank_accesses.hpp.
#include "front/ranks/rank_accesses.hpp"

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
    // The engine looks at neither any more.
    if (!record->is_over || !(record->applied.load(std::memory_order_acquire))) return false;
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
    record->is_granted = record->is_let_go = record->is_over = false;
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
  std::uint64_t name = 0;
  {
    const std::lock_guard guard(mutex_);
    record.is_granted = true;
    if (record.is_let_go) return;  // nobody wants it any more
    name = record.name;
  }
  net::Spot spot;
  if (role_ == TaskRole::hold) {
    const memory::Location at = memory::location_of(access, record.access);
    spot.address = core_.world().address_of(at);
    if (at.node != no_id<NodeId>) spot.memory = core_.world().device_memory(at.node);
  }
  granted_(name, spot);
}

void RankAccesses::let_go(std::uint64_t name, bool unused) {
  Record* record = nullptr;
  {
    const std::lock_guard guard(mutex_);
    const auto found = by_name_.find(name);
    if (found == by_name_.end()) return;
    record = found->second;
    by_name_.erase(found);
    record->is_let_go = true;
    record->unused = unused || !record->is_granted;
    ending_.push_back(record);
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
  if (!by_name_.empty()) return false;
  for (const Record* record : ending_)
    if (!record->is_over || !record->applied.load(std::memory_order_acquire)) return false;
  return true;
}

}  // namespace fairlead::front
