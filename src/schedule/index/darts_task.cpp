// The pool of records of held tasks.
#include "schedule/index/darts_task.hpp"

#include <new>
#include <type_traits>

namespace fairlead::schedule {

DartsTask& DartsTaskPool::make(Task& task, std::size_t uses) {
  std::size_t size_class = 0;
  while ((std::size_t{4} << size_class) < uses) ++size_class;
  if (free_[size_class].empty()) grow(size_class);
  DartsTask& held = *free_[size_class].back();
  free_[size_class].pop_back();

  held.task = &task;
  held.order = ++order_;
  held.use_count = static_cast<std::uint16_t>(uses);
  for (OnNode& on : held.nodes()) on = {};
  held.has_bonus = false;
  held.priority = task.priority;
  held.where = DartsTask::Where::nowhere;
  return held;
}

void DartsTaskPool::release(DartsTask& held) noexcept {
  constexpr std::uint32_t last_generation = (1u << 24) - 1;
  ++held.generation;
  held.where = DartsTask::Where::nowhere;
  held.task = nullptr;
  // Generations are exhausted: a stale reference could look valid.
  if (held.generation == last_generation) return;
  free_[held.size_class].push_back(&held);  // does not allocate: grow() reserved the capacity
}

// A record is followed by its nodes and uses in the same block, since they are read together.
void DartsTaskPool::grow(std::size_t size_class) {
  static_assert(std::is_trivially_destructible_v<DartsTask>);
  static_assert(sizeof(DartsTask) % alignof(OnNode) == 0 && sizeof(OnNode) % alignof(InputUse) == 0 &&
                sizeof(InputUse) == 4);
  const std::size_t width = std::size_t{4} << size_class;
  const std::size_t count = width > 1024 ? 1 : width > 64 ? per_slab / 16 : per_slab;
  const std::size_t bytes = sizeof(DartsTask) + nodes_ * sizeof(OnNode) + width * sizeof(InputUse);
  const std::size_t stride = (bytes + cache_line - 1) / cache_line * cache_line;
  auto* begin = static_cast<std::byte*>(memory_.take(count * stride, cache_line));
  slabs_.push_back({begin, static_cast<std::uint32_t>(stride), static_cast<std::uint32_t>(count)});
  auto& free = free_[size_class];
  std::size_t& made = made_[size_class];
  if (free.capacity() < made + count) free.reserve(2 * (made + count));
  made += count;
  for (std::size_t i = 0; i < count; ++i) {
    std::byte* at = begin + i * stride;
    auto* held = new (at) DartsTask;
    held->node_count = static_cast<std::uint8_t>(nodes_) & 127u;
    held->size_class = static_cast<std::uint32_t>(size_class) & 31u;
    held->record = static_cast<std::uint32_t>((slabs_.size() - 1) * per_slab + i) & ((1u << 27) - 1);
    new (at + sizeof(DartsTask)) OnNode[nodes_];
    new (at + sizeof(DartsTask) + nodes_ * sizeof(OnNode)) InputUse[width];
    free.push_back(held);
  }
}

}  // namespace fairlead::schedule
