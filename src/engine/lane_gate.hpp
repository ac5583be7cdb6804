// The direct lane as the engine sees it: when it is open, what is let in, and what has to wait until nobody
// is inside.
#pragma once
#include <atomic>
#include <optional>

#include "engine/direct_lane.hpp"
#include "memory/memory.hpp"

namespace fairlead::engine {

/// Under the engine's lock, where nothing else is said.
class LaneGate {
 public:
  /// `host`: the memory node where its data are.
  LaneGate(std::size_t workers, std::size_t threads, memory::Memory& memory, NodeId host,
           memory::Effects& effects)
      : memory_(memory), effects_(effects), host_(host), lane_(workers, threads) {}

  DirectLane& lane() noexcept { return lane_; }
  const DirectLane& lane() const noexcept { return lane_; }
  /// Whether it may ever be open. Any thread; changes before the first task only.
  bool possible() const noexcept { return possible_.load(std::memory_order_relaxed); }
  void allow(bool possible) noexcept { possible_ = possible; }

  /// It was opened, and data stay for it.
  bool pinned() const noexcept { return pinned_; }
  /// Opens it if it is closed, nobody is left inside, and all data fit.
  bool try_open();
  /// Where the datum stays while it is open; nothing if the datum cannot be let in now. `has_value`: it was
  /// written before, or its home has a value.
  std::optional<memory::Location> let_in(DatumId id, bool has_value) {
    if (lane_.generation() == 0) return std::nullopt;
    return memory_.lane().keep(id, host_, has_value);
  }
  /// Any thread may; the engine has to be entered afterwards.
  void close() noexcept { lane_.close(); }
  /// Closes it when there is reason to; ends it when it is closed and nobody is inside. True if that changed
  /// what can be done now.
  bool follow();
  /// What the program wants done to all data has to wait until no task changes them untold.
  void flush_or_drop(EventKind kind);
  bool flush_waits() const noexcept { return flush_after_; }

 private:
  memory::Memory& memory_;
  memory::Effects& effects_;
  const NodeId host_;
  DirectLane lane_;
  std::atomic<bool> possible_{false};
  bool pinned_ = false;
  bool flush_after_ = false, drop_after_ = false;
  Bytes too_full_at_ = ~Bytes{0};  // of registered data, when there was no room beside them
};

}  // namespace fairlead::engine
