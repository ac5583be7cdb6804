// Pseudo-tasks by which the network accesses data. See network_accesses.hpp.
#include "front/ranks/network_accesses.hpp"

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

NetworkAccesses::NetworkAccesses(engine::RuntimeCore& core, TaskRole role,
                                 std::function<void(std::uint64_t, const net::ValueMemory&)> granted,
                                 std::function<void(const std::string&)> refused)
    : core_(core),
      role_(role),
      granted_(std::move(granted)),
      refused_(std::move(refused)),
      next_id_(core.graph().take_ids(names_taken)) {
  id = core.sources().next_id();
}

NetworkAccesses::~NetworkAccesses() = default;

void NetworkAccesses::collect() {
  std::erase_if(ending_, [this](Record* record) {
    if (!record->is_unused()) return false;
    unused_.push_back(record);
    return true;
  });
}

NetworkAccesses::Record& NetworkAccesses::begin(std::uint64_t name, const Datum& datum, AccessMode mode,
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
    record->is_granted = record->is_released = record->is_finished = record->callback_done = false;
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
  access.is_packed_copy = datum.packed;
  // Inserted last: on failure, another thread releases every record that it finds here.
  const std::lock_guard guard(mutex_);
  ensure(by_name_.emplace(name, record).second, "a value is held once for each purpose");
  ++uncounted_;
  return *record;
}

void NetworkAccesses::request_hold(std::uint64_t name, const Datum& datum, AccessMode mode, PlaceHint where) {
  Record& record = begin(name, datum, mode, where);
  core_.engine().entrance().post(record.task, EventKind::task_ready, no_id<WorkerId>, core_.world().now());
  core_.world().process_remote_events();
}

void NetworkAccesses::request_turn(std::uint64_t name, engine::RegisteredDatum& datum, AccessMode mode) {
  Record& record = begin(name, {.id = datum.id}, mode, {});
  const graph::Insertion insertion(&datum.tail, datum.id, mode);
  if (core_.graph().insert(record.task, {&insertion, 1}))
    core_.engine().entrance().post(record.task, EventKind::task_ready, no_id<WorkerId>, core_.world().now());
  core_.application().serve_blocking();
}

void NetworkAccesses::granted(Task& access) {
  auto& record = *static_cast<Record*>(access.policy_data);
  engine::RunnableWorld& world = core_.world();
  std::unique_lock lock(mutex_);
  record.is_granted = !record.is_released;
  if (record.is_granted) {
    const std::uint64_t name = record.name;
    lock.unlock();
    net::ValueMemory spot;
    if (role_ == TaskRole::remote_access) {
      const memory::Location at = memory::location_of(access, record.access);
      spot.address = world.address_of(at);
      if (at.node != no_id<NodeId>) spot.memory = world.device_memory(at.node);
    }
    granted_(name, spot);
    lock.lock();
  }
  record.callback_done = true;
  const bool last = record.is_released;
  lock.unlock();  // after this, the object may be destroyed
  if (last) world.wake(engine::WakeTarget::application());
}

/// Wakes up a thread that waits for none().
void NetworkAccesses::count(std::size_t accesses, Recycler&) {
  engine::RunnableWorld& world = core_.world();
  {
    const std::lock_guard guard(mutex_);
    uncounted_ -= accesses;
  }  // after this, the object may be destroyed
  world.wake(engine::WakeTarget::application());
}

void NetworkAccesses::release(std::uint64_t name, bool unused) {
  Record* record = nullptr;
  {
    const std::lock_guard guard(mutex_);
    const auto found = by_name_.find(name);
    if (found == by_name_.end()) return;
    record = found->second;
    ending_.push_back(record);  // may throw; nothing has changed yet
    by_name_.erase(found);
    record->is_released = true;
    record->data_unused = unused || !record->is_granted;
    if (record->is_finished) {  // the access was refused
      record->applied.store(true);
      return;
    }
    record->HoldRelease::hold = &record->task;
  }
  core_.engine().entrance().post(*record, EventKind::hold_released, no_id<WorkerId>, core_.world().now());
  core_.world().process_remote_events();
}

void NetworkAccesses::release(Task& over, ReadyTasks& ready) {
  auto& record = *static_cast<Record*>(over.policy_data);
  if (role_ == TaskRole::sequence_point)
    graph::DependencyGraph::complete(over, ready.described, ready.recycler);
  bool refused = false;
  {
    const std::lock_guard guard(mutex_);
    record.is_finished = true;
    refused = !record.is_released;
  }
  if (!refused) return;
  std::string why = "a value for or from another rank is unavailable";
  if (const std::string reason = over.failure != nullptr ? exception_text(over.failure, "") : "";
      !reason.empty())
    why += ": " + reason;
  refused_(why);
}

bool NetworkAccesses::none() const {
  const std::lock_guard guard(mutex_);
  return by_name_.empty() && uncounted_ == 0 && std::ranges::all_of(ending_, &Record::is_unused);
}

bool NetworkAccesses::any_of(DatumId datum) const {
  const std::lock_guard guard(mutex_);
  const auto is_of_it = [datum](const Record* record) { return record->access.datum == datum; };
  return std::ranges::any_of(by_name_, is_of_it, &decltype(by_name_)::value_type::second) ||
         std::ranges::any_of(ending_, [&](const Record* it) { return is_of_it(it) && !it->is_unused(); });
}

}  // namespace fairlead::front
