// The pool of records of held tasks.
#include "schedule/darts/held_task.hpp"

#include <cstddef>
#include <new>
#include <type_traits>

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

// One block per record, uses and nodes behind it: they are looked at together.
void HeldPool::grow(std::size_t size_class) {
  static_assert(std::is_trivially_destructible_v<HeldTask>);
  const std::size_t width = std::size_t{4} << size_class;
  const std::size_t count = width > 64 ? 1 : 128;
  const std::size_t stride = sizeof(HeldTask) + nodes_ * sizeof(OnNode) + width * sizeof(Use);
  static_assert(sizeof(HeldTask) % alignof(OnNode) == 0 && sizeof(OnNode) % alignof(Use) == 0);
  static_assert(sizeof(Use) % alignof(HeldTask) == 0);
  std::byte* at = slabs_.emplace_back(std::make_unique<std::byte[]>(count * stride)).get();
  auto& free = free_[size_class];
  free.reserve(free.capacity() + count);
  for (std::size_t i = 0; i < count; ++i, at += stride) {
    auto* held = new (at) HeldTask;
    auto* nodes = new (at + sizeof(HeldTask)) OnNode[nodes_];
    auto* uses = new (at + sizeof(HeldTask) + nodes_ * sizeof(OnNode)) Use[width];
    held->nodes = {nodes, nodes_};
    held->uses = {uses, width};
    held->size_class = static_cast<std::uint8_t>(size_class);
    free.push_back(held);
  }
}

}  // namespace fairlead::schedule::darts
