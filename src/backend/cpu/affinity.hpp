// Binds threads to processing units. Only a hint: if the system refuses, the run is slower but not wrong.
#pragma once
#include <pthread.h>
#include <sched.h>

#include <span>

namespace fairlead::backend {

/// Binds the calling thread. False if the system refuses.
inline bool bind_thread(std::span<const unsigned> units) noexcept {
  cpu_set_t set;
  CPU_ZERO(&set);
  for (const unsigned unit : units)
    if (unit < CPU_SETSIZE) CPU_SET(unit, &set);
  return pthread_setaffinity_np(pthread_self(), sizeof set, &set) == 0;
}

/// Remembers the affinity of the constructing thread, to apply it to threads that it starts.
class SavedAffinity {
 public:
  SavedAffinity() noexcept : known_(pthread_getaffinity_np(pthread_self(), sizeof set_, &set_) == 0) {}
  /// Applies that affinity to the calling thread.
  void apply() const noexcept {
    if (known_) pthread_setaffinity_np(pthread_self(), sizeof set_, &set_);
  }

 private:
  cpu_set_t set_{};
  bool known_;
};

/// Binds the calling thread, and threads that it starts, for the lifetime of this object. Without units, does
/// nothing.
class ScopedAffinity {
 public:
  explicit ScopedAffinity(std::span<const unsigned> units) noexcept
      : changed_(!units.empty() && pthread_getaffinity_np(pthread_self(), sizeof before_, &before_) == 0 &&
                 bind_thread(units)) {}
  ~ScopedAffinity() {
    if (changed_) pthread_setaffinity_np(pthread_self(), sizeof before_, &before_);
  }
  ScopedAffinity(const ScopedAffinity&) = delete;
  ScopedAffinity& operator=(const ScopedAffinity&) = delete;

 private:
  cpu_set_t before_{};
  bool changed_;
};

}  // namespace fairlead::backend
