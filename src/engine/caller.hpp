// Who may call: a runtime is used by the thread that made it, in the process that made it, outside of bodies
// and callbacks, until it is closed.
#pragma once
#include <atomic>
#include <thread>

#include "base/process_mark.hpp"
#include "engine/callbacks.hpp"

namespace fairlead::engine {

class Caller {
 public:
  /// Made by the application's thread.
  explicit Caller(const Callbacks& callbacks) : callbacks_(callbacks) {}

  /// Throws UsageError if the caller is another thread than the one that made the runtime, in a body or a
  /// callback, after a fork, or after close().
  void check(const char* what) const {
    const std::thread::id caller = std::this_thread::get_id();
    // In this order: the last is the owner's.
    if (!same_process() || closed_.load() || callbacks_.running_here(caller) || caller != owner_ ||
        in_bodies_) [[unlikely]]
      refuse(what);
  }
  /// Throws UsageError after a fork: for what any thread may do.
  void check_process(const char* what) const;
  bool same_process() const noexcept { return process_.same_process(); }
  /// Whether the caller is the application's thread outside of bodies: what waits has to be.
  bool may_wait() const noexcept;
  /// The runtime is gone for the program.
  void close() noexcept { closed_.store(true); }

  /// While it lives, the application's thread runs bodies.
  class InBodies {
   public:
    explicit InBodies(Caller& caller) noexcept : caller_(caller) { caller_.in_bodies_ = true; }
    ~InBodies() { caller_.in_bodies_ = false; }
    InBodies(const InBodies&) = delete;
    InBodies& operator=(const InBodies&) = delete;

   private:
    Caller& caller_;
  };

 private:
  [[noreturn]] void refuse(const char* what) const;

  const Callbacks& callbacks_;
  const std::thread::id owner_ = std::this_thread::get_id();
  ProcessMark process_;
  std::atomic<bool> closed_{false};
  bool in_bodies_ = false;  // the application's thread's
};

}  // namespace fairlead::engine
