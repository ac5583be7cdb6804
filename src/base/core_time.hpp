// How long threads had a core, and how long they wanted one and had none: another program, a limit of the control
// group, or too many threads of the program itself. From /proc/<pid>/task/<tid>/schedstat.
#pragma once
#include <sys/types.h>

#include <map>
#include <optional>
#include <string_view>

#include "base/time.hpp"

namespace fairlead {

struct CoreTime {
  Duration on_core{};       ///< CPU time
  Duration without_core{};  ///< runnable, and not running

  CoreTime& operator+=(const CoreTime& other) noexcept {
    on_core += other.on_core;
    without_core += other.without_core;
    return *this;
  }
  friend CoreTime operator-(const CoreTime& a, const CoreTime& b) noexcept {
    return {a.on_core - b.on_core, a.without_core - b.without_core};
  }
};

/// The text of a file schedstat: "nanoseconds-on-core nanoseconds-without timeslices". Nothing if it is another.
std::optional<CoreTime> core_time_in(std::string_view schedstat);

/// Of a thread of this process since its start. Nothing where the kernel does not count it, or the thread has ended.
/// Costs about 10 microseconds.
std::optional<CoreTime> core_time_of(pid_t thread);

/// Of all threads that this process has now. Nothing where the kernel does not count it.
std::optional<CoreTime> core_time_of_process();

/// Of another process, its threads that have ended included, to be asked now and then while it runs: of one that ends, what
/// it did since it was last asked for is lost.
class CoreTimeOfProcess {
 public:
  explicit CoreTimeOfProcess(pid_t process) : process_(process) {}
  /// Nothing where the kernel does not count it, or not yet.
  std::optional<CoreTime> now();

 private:
  pid_t process_;
  std::map<pid_t, CoreTime> threads_;
};

/// CPU time: that of other programs on its core is not in it.
double cpu_seconds_of_thread() noexcept;
/// Of all threads, those that have ended included.
double cpu_seconds_of_process() noexcept;

/// As the kernel numbers it.
pid_t this_thread() noexcept;

/// Watches whether a measurement has the cores that it needs. To be made and asked by one thread; the threads that it
/// counts live meanwhile.
class CoreWatch {
 public:
  /// `wanted`: of so many threads, which all run or wait for a device.
  explicit CoreWatch(unsigned wanted);

  /// The part of the time, from 0 to 1, in which these threads wanted a core and had none. 0 where the kernel does
  /// not count it.
  double without_core() const;

 private:
  unsigned wanted_;
  std::optional<CoreTime> before_;
  Time begin_;
};

/// From this part on a measurement says something of other programs.
inline constexpr double disturbed_from = 0.1;

}  // namespace fairlead
