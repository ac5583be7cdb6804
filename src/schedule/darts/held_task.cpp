#include "schedule/darts/held_task.hpp"

namespace fairlead::schedule::darts {

HeldTask& HeldPool::make(Task& task, std::size_t uses) {
  std::size_t size_class = 0;
  while ((std::size_t{4} << size_class) < uses) ++size_class;
  if (free_[size_class].empty()) grow(size_class);
  HeldTask& held = *free_[size_class].back();
  free_[size_class].pop_back();

  held.task = &task;
  held.order = ++order_;
  held.previous = held.next = nullptr;
  held.uses = {held.uses.data(), uses};
  for (OnNode& on : held.nodes) on = {};
  held.bonus = 0;
  held.priority = task.priority;
  held.planned_on = no_slot;
  held.where = HeldTask::Where::nowhere;
  return held;
}

void HeldPool::release(HeldTask& held) noexcept {
  held.order = 0;
  held.task = nullptr;
  free_[held.size_class].push_back(&held);  // has room: grow() reserved it
}

void HeldPool::grow(std::size_t size_class) {
  constexpr std::size_t together = 128;
  const std::size_t width = std::size_t{4} << size_class;
  const std::size_t count = width > 64 ? 1 : together;
  HeldTask* records = records_.emplace_back(std::make_unique<HeldTask[]>(count)).get();
  Use* uses = uses_.emplace_back(std::make_unique<Use[]>(count * width)).get();
  OnNode* on = on_nodes_.emplace_back(std::make_unique<OnNode[]>(count * nodes_)).get();
  auto& free = free_[size_class];
  free.reserve(free.capacity() + count);
  for (std::size_t i = count; i-- > 0;) {
    records[i].uses = {uses + i * width, width};
    records[i].nodes = {on + i * nodes_, nodes_};
    records[i].size_class = static_cast<std::uint8_t>(size_class);
    free.push_back(&records[i]);
  }
}

}  // namespace fairlead::schedule::darts
