// The pool of records of held tasks.
#include "schedule/index/held_task.hpp"

#include <new>
#include <type_traits>

namespace fairlead::schedule {

HeldTask& HeldPool::make(Task& task, std::size_t uses) {
  std::size_t size_class = 0;
  while ((std::size_t{4} << size_class) < uses) ++size_class;
  if (free_[size_class].empty()) grow(size_class);
  HeldTask& held = *free_[size_class].back();
  free_[size_class].pop_back();

  held.task = &task;
  held.order = ++order_;
  held.use_count = static_cast<std::uint16_t>(uses);
  for (OnNode& on : held.nodes()) on = {};
  held.has_bonus = false;
  held.priority = task.priority;
  held.where = HeldTask::Where::nowhere;
  return held;
}

void HeldPool::release(HeldTask& held) noexcept {
  constexpr std::uint32_t last_generation = (1u << 24) - 1;
  ++held.generation;
  held.where = HeldTask::Where::nowhere;
  held.task = nullptr;
  if (held.generation == last_generation) return;  // worn out: old references could be taken for new ones
  free_[held.size_class].push_back(&held);         // has room: grow() reserved it
}

// One block per record, nodes and uses behind it: they are looked at together.
void HeldPool::grow(std::size_t size_class) {
  static_assert(std::is_trivially_destructible_v<HeldTask>);
  static_assert(sizeof(HeldTask) % alignof(OnNode) == 0 && sizeof(OnNode) % alignof(Use) == 0 &&
                sizeof(Use) == 4);
  const std::size_t width = std::size_t{4} << size_class;
  const std::size_t count = width > 1024 ? 1 : width > 64 ? per_slab / 16 : per_slab;
  const std::size_t bytes = sizeof(HeldTask) + nodes_ * sizeof(OnNode) + width * sizeof(Use);
  const std::size_t stride = (bytes + cache_line - 1) / cache_line * cache_line;
  auto* begin = static_cast<std::byte*>(memory_.take(count * stride, cache_line));
  slabs_.push_back({begin, static_cast<std::uint32_t>(stride), static_cast<std::uint32_t>(count)});
  auto& free = free_[size_class];
  std::size_t& made = made_[size_class];
  if (free.capacity() < made + count) free.reserve(2 * (made + count));
  made += count;
  for (std::size_t i = 0; i < count; ++i) {
    std::byte* at = begin + i * stride;
    auto* held = new (at) HeldTask;
    held->node_count = static_cast<std::uint8_t>(nodes_) & 127u;
    held->size_class = static_cast<std::uint32_t>(size_class) & 31u;
    held->record = static_cast<std::uint32_t>((slabs_.size() - 1) * per_slab + i) & ((1u << 27) - 1);
    new (at + sizeof(HeldTask)) OnNode[nodes_];
    new (at + sizeof(HeldTask) + nodes_ * sizeof(OnNode)) Use[width];
    free.push_back(held);
  }
}

}  // namespace fairlead::schedule
