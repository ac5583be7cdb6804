// The engine's side of the fast path (class FastPath): opens and closes it, admits data, and defers operations until no
// worker is inside.
#pragma once
#include <atomic>
#include <optional>

#include "engine/fast_path.hpp"
#include "memory/memory.hpp"

namespace fairlead::engine {

/// Under the engine's lock, unless stated otherwise.
class FastPathControl {
 public:
  /// `host`: the memory node of the fast path's data.
  FastPathControl(std::size_t workers, std::size_t threads, memory::Memory& memory, NodeId host,
                  memory::Effects& effects)
      : memory_(memory), effects_(effects), host_(host), fast_path_(workers, threads) {}

  FastPath& path() noexcept { return fast_path_; }
  const FastPath& path() const noexcept { return fast_path_; }
  /// Whether the fast path may ever be open. Any thread; changes before the first task only.
  bool possible() const noexcept { return possible_.load(std::memory_order_relaxed); }
  void allow(bool possible) noexcept { possible_ = possible; }

  /// Whether the fast path is open or not yet left, so that its data stay in place.
  bool pinned() const noexcept { return pinned_; }
  /// Opens the fast path if it is closed, no worker is inside, and all data fit.
  bool try_open();
  /// The place where the datum stays while the fast path is open; none if it cannot be admitted now. `has_value`: a
  /// task has written it, or its home has a value.
  std::optional<memory::Location> admit(DatumId id, bool has_value) {
    if (fast_path_.generation() == 0) return std::nullopt;
    return memory_.fast_path().keep(id, host_, has_value);
  }
  /// Any thread may close it, and must enter the engine afterwards.
  void close() noexcept { fast_path_.close(); }
  /// Closes the fast path if necessary, and completes the closing when no worker is inside. Returns true if that
  /// changed what can be done now.
  bool update();
  /// Flushes or drops clean replicas, now or when the fast path is closed: its tasks change data without notice.
  void flush_or_drop(EventKind kind);
  bool flush_waits() const noexcept { return flush_after_; }

 private:
  memory::Memory& memory_;
  memory::Effects& effects_;
  const NodeId host_;
  FastPath fast_path_;
  std::atomic<bool> possible_{false};
  bool pinned_ = false;
  bool flush_after_ = false, drop_after_ = false;
  Bytes too_full_at_ = ~Bytes{0};  // bytes of registered data when not all data fit
};

}  // namespace fairlead::engine
