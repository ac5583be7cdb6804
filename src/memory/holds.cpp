// Holds of the application in memory: admitted like tasks; then their pins are of a kind of their own, since
// nobody knows when they end (rule 9).
#include "base/check.hpp"
#include "memory/memory.hpp"

namespace fairlead::memory {

void Memory::hold(Task& admitted) {
  MemoryNode& node = nodes_[index(admitted.node)];
  for (const Access& access : admitted.accesses()) {
    Replica& replica = usable(access.datum, node);
    if (mistake_.is(Mistake::hold_not_pinned)) {
      unpin(replica, node);
      continue;
    }
    const bool cached = nodes_[index(replica.node)].is_cache;
    if (replica.app_pins++ == 0 && cached) node.held_bytes += replica.block.bytes;
    if (--replica.task_pins == 0 && cached) node.pinned_bytes -= replica.block.bytes;
  }
  note_change();  // less is pinned by tasks than before
}

void Memory::unhold(Task& held) {
  MemoryNode& node = nodes_[index(held.node)];
  for (const Access& access : held.accesses()) {
    Replica& replica = usable(access.datum, node);
    if (mistake_.is(Mistake::hold_not_pinned)) {
      pin(replica, node);
      continue;
    }
    const bool cached = nodes_[index(replica.node)].is_cache;
    ensure(replica.app_pins > 0, "what is released was held");
    if (replica.task_pins++ == 0 && cached) node.pinned_bytes += replica.block.bytes;
    if (--replica.app_pins == 0 && cached) node.held_bytes -= replica.block.bytes;
  }
}

}  // namespace fairlead::memory
