// Checks which thread may call a runtime: the thread that made it, in the process that made it, outside of bodies and
// callbacks, until the runtime is closed.
#pragma once
#include <atomic>
#include <thread>

#include "base/process_mark.hpp"
#include "engine/callbacks.hpp"

namespace fairlead::engine {

class CallerCheck {
 public:
  /// Constructed by the application's thread.
  explicit CallerCheck(const Callbacks& callbacks) : callbacks_(callbacks) {}

  /// Throws UsageError if the caller is not the thread that made the runtime, runs inside a body or a callback, is in a
  /// forked process, or calls after close().
  void check(const char* what) const {
    const std::thread::id caller = std::this_thread::get_id();
    // The order matters: in_bodies_ may be read by the owner thread only.
    if (!same_process() || closed_.load() || callbacks_.running_here(caller) || caller != owner_ ||
        in_bodies_) [[unlikely]]
      refuse(what);
  }
  /// Throws UsageError in a forked process. For functions that any thread may call.
  void check_process(const char* what) const;
  bool same_process() const noexcept { return process_.same_process(); }
  /// Whether the caller is the application's thread outside of bodies; only that thread may wait.
  bool may_wait() const noexcept;
  /// The program can no longer use the runtime.
  void close() noexcept { closed_.store(true); }

  /// Marks, for its lifetime, that the application's thread may run bodies.
  class InBodies {
   public:
    explicit InBodies(CallerCheck& caller) noexcept : caller_(caller) { caller_.in_bodies_ = true; }
    ~InBodies() { caller_.in_bodies_ = false; }
    InBodies(const InBodies&) = delete;
    InBodies& operator=(const InBodies&) = delete;

   private:
    CallerCheck& caller_;
  };

 private:
  [[noreturn]] void refuse(const char* what) const;

  const Callbacks& callbacks_;
  const std::thread::id owner_ = std::this_thread::get_id();
  ProcessMark process_;
  std::atomic<bool> closed_{false};
  bool in_bodies_ = false;  // used by the application's thread only
};

}  // namespace fairlead::engine
