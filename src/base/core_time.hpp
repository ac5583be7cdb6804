// How long threads ran and how long they were runnable without a core. Causes of the latter: another program, a limit
// of the control group, too many threads of the program itself. Source: /proc/<pid>/task/<tid>/schedstat.
#pragma once
#include <sys/types.h>

#include <map>
#include <optional>
#include <string_view>

#include "base/time.hpp"

namespace fairlead {

struct CoreTime {
  Duration on_core{};  ///< CPU time
  Duration waiting{};  ///< time in which the thread was runnable but not running

  CoreTime& operator+=(const CoreTime& other) noexcept {
    on_core += other.on_core;
    waiting += other.waiting;
    return *this;
  }
  friend CoreTime operator-(const CoreTime& a, const CoreTime& b) noexcept {
    return {a.on_core - b.on_core, a.waiting - b.waiting};
  }
};

/// Parses a schedstat file: "nanoseconds-on-core nanoseconds-without timeslices". Nothing if the text is malformed.
std::optional<CoreTime> core_time_in(std::string_view schedstat);

/// The times of a thread of this process since its start. Nothing if the kernel does not count them or the thread has
/// ended. Costs about 10 microseconds.
std::optional<CoreTime> core_time_of(pid_t thread);

/// The time between two samples of a worker's thread. No first sample: the thread had not run yet, so it counts as 0.
/// Nothing without a last sample, or if that is less than the first: another thread is the worker now.
std::optional<CoreTime> core_time_between(const std::optional<CoreTime>& first,
                                          const std::optional<CoreTime>& last);

/// The sum over the current threads of this process. Nothing if the kernel does not count it.
std::optional<CoreTime> core_time_of_process();

/// The times of another process, ended threads included. Must be sampled while the process runs: what a thread does
/// between its last sample and its end is lost.
class CoreTimeOfProcess {
 public:
  explicit CoreTimeOfProcess(pid_t process) : process_(process) {}
  /// Nothing if the kernel does not count it, or there is no sample yet.
  std::optional<CoreTime> now();

 private:
  pid_t process_;
  std::map<pid_t, CoreTime> threads_;
};

/// CPU time of the calling thread, in seconds.
double cpu_seconds_of_thread() noexcept;
/// CPU time of this process in seconds, ended threads included.
double cpu_seconds_of_process() noexcept;

/// The kernel's thread id (gettid).
pid_t this_thread() noexcept;

/// Checks whether a measurement gets the cores that it needs. Constructed and read by one thread; the threads that it
/// counts must exist for its whole lifetime.
class CoreContention {
 public:
  /// `wanted`: the number of threads that run all the time or wait for a device.
  explicit CoreContention(unsigned wanted);

  /// The fraction of the time, 0 to 1, in which these threads were runnable without a core. 0 if the kernel does not
  /// count it.
  double without_core() const;

 private:
  unsigned wanted_;
  std::optional<CoreTime> before_;
  Time begin_;
};

/// From this fraction on, a measurement counts as disturbed by other programs.
inline constexpr double disturbed_from = 0.1;

}  // namespace fairlead
