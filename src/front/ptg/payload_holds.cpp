// See payload_holds.hpp.
#include "front/ptg/payload_holds.hpp"

#include <utility>

#include "base/check.hpp"
#include "front/flow/pseudo_task.hpp"
#include "memory/location.hpp"

namespace fairlead::ptg {

namespace {
const CodeletInfo& payload_codelet() {
  static const CodeletInfo info = front::pseudo_codelet("a value for or from another rank");
  return info;
}
constexpr std::size_t names_taken = 4096;
}  // namespace

PayloadHolds::PayloadHolds(engine::RuntimeCore& core, std::function<void(std::uint64_t, void*)> granted,
                           std::function<void(const std::string&)> refused)
    : core_(core),
      granted_(std::move(granted)),
      refused_(std::move(refused)),
      next_id_(core.graph().take_ids(names_taken)) {
  id = core.sources().next_id();
}

PayloadHolds::~PayloadHolds() = default;

void PayloadHolds::collect() {
  std::erase_if(ending_, [this](Record* record) {
    // The engine looks at neither any more.
    if (!record->is_over || !(record->applied.load(std::memory_order_acquire))) return false;
    unused_.push_back(record);
    return true;
  });
}

void PayloadHolds::ask(std::uint64_t hold, const Value& value, AccessMode mode) {
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
    record->hold = hold;
    record->is_granted = record->is_let_go = record->is_over = false;
    record->applied.store(false);
    ensure(by_hold_.emplace(hold, record).second, "a value is held once for each purpose");
  }
  Task& task = record->task;
  static_cast<TaskTraits&>(task) = {};
  task.codelet = &payload_codelet();
  task.submitted_at = {"", 0};
  task.begin(task.id, &record->access, 1);
  task.family = &described;
  task.role = TaskRole::hold;
  task.failure = nullptr;
  task.policy_data = record;
  Access& access = record->access;
  access = {};
  access.task = &task;
  access.address = value.address;
  access.datum = value.id;
  access.mode = mode;
  access.packed = value.packed;
  core_.engine().entrance().post(task, EventKind::task_ready, no_id<WorkerId>, core_.world().now());
  core_.world().serve_for_others();
}

void PayloadHolds::granted(Task& hold) {
  auto& record = *static_cast<Record*>(hold.policy_data);
  std::uint64_t name = 0;
  {
    const std::lock_guard guard(mutex_);
    record.is_granted = true;
    if (record.is_let_go) return;  // nobody wants it any more
    name = record.hold;
  }
  granted_(name, core_.world().address_of(memory::location_of(hold, record.access)));
}

void PayloadHolds::let_go(std::uint64_t hold, bool unused) {
  Record* record = nullptr;
  {
    const std::lock_guard guard(mutex_);
    const auto found = by_hold_.find(hold);
    if (found == by_hold_.end()) return;
    record = found->second;
    by_hold_.erase(found);
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

void PayloadHolds::release(Task& over, ReadyTasks&) {
  auto& record = *static_cast<Record*>(over.policy_data);
  bool refused = false;
  {
    const std::lock_guard guard(mutex_);
    record.is_over = true;
    refused = !record.is_let_go;
  }
  if (refused) refused_("a value for or from another rank cannot be had");
}

bool PayloadHolds::none() const {
  const std::lock_guard guard(mutex_);
  if (!by_hold_.empty()) return false;
  for (const Record* record : ending_)
    if (!record->is_over || !record->applied.load(std::memory_order_acquire)) return false;
  return true;
}

}  // namespace fairlead::ptg
