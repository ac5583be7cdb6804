// On which processing units a thread may run. A wish: where the system refuses, the run is slower, not wrong.
#pragma once
#include <pthread.h>
#include <sched.h>

#include <span>

namespace fairlead::backend {

/// The calling thread, from now on. False if the system refuses.
inline bool run_only_on(std::span<const unsigned> units) noexcept {
  cpu_set_t set;
  CPU_ZERO(&set);
  for (const unsigned unit : units)
    if (unit < CPU_SETSIZE) CPU_SET(unit, &set);
  return pthread_setaffinity_np(pthread_self(), sizeof set, &set) == 0;
}

/// Where the thread that makes this may run, for other threads that are not to run where they were started.
class UnitsOfThread {
 public:
  UnitsOfThread() noexcept : known_(pthread_getaffinity_np(pthread_self(), sizeof set_, &set_) == 0) {}
  /// The calling thread, from now on.
  void again() const noexcept {
    if (known_) pthread_setaffinity_np(pthread_self(), sizeof set_, &set_);
  }

 private:
  cpu_set_t set_{};
  bool known_;
};

/// The calling thread, and those that it starts, until this is gone. Without units nothing changes.
class RunOnlyOnForNow {
 public:
  explicit RunOnlyOnForNow(std::span<const unsigned> units) noexcept
      : changed_(!units.empty() && pthread_getaffinity_np(pthread_self(), sizeof before_, &before_) == 0 &&
                 run_only_on(units)) {}
  ~RunOnlyOnForNow() {
    if (changed_) pthread_setaffinity_np(pthread_self(), sizeof before_, &before_);
  }
  RunOnlyOnForNow(const RunOnlyOnForNow&) = delete;
  RunOnlyOnForNow& operator=(const RunOnlyOnForNow&) = delete;

 private:
  cpu_set_t before_{};
  bool changed_;
};

}  // namespace fairlead::backend
