// Reads the first two numbers of /proc/<pid>/task/<tid>/schedstat of each thread.
#include "base/core_time.hpp"

#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <chrono>
#include <cstdint>
#include <string>

#include "base/file_descriptor.hpp"

namespace fairlead {

namespace {

Time steady_now() { return Time(std::chrono::steady_clock::now().time_since_epoch()); }

}  // namespace

std::optional<CoreTime> core_time_in(std::string_view schedstat) {
  std::array<std::int64_t, 2> numbers{};
  const char* at = schedstat.data();
  const char* const end = at + schedstat.size();
  for (std::int64_t& number : numbers) {
    const auto [stopped, error] = std::from_chars(at, end, number);
    if (error != std::errc() || number < 0 || stopped == end || *stopped != ' ') return {};
    at = stopped + 1;
  }
  // A kernel without these counters leaves them at 0, but a running thread has used CPU time.
  if (numbers[0] == 0 && numbers[1] == 0) return {};
  return CoreTime{Duration(numbers[0]), Duration(numbers[1])};
}

std::optional<CoreTime> core_time_of(pid_t thread) {
  if (thread <= 0) return {};
  const auto text = read_file(fmt::format("/proc/self/task/{}/schedstat", thread));
  return text ? core_time_in(*text) : std::nullopt;
}

std::optional<CoreTime> core_time_between(const std::optional<CoreTime>& first,
                                          const std::optional<CoreTime>& last) {
  const CoreTime begin = first.value_or(CoreTime{});
  if (!last || last->on_core < begin.on_core) return {};
  return *last - begin;
}

std::optional<CoreTime> core_time_of_process() { return CoreTimeOfProcess(::getpid()).now(); }

std::optional<CoreTime> CoreTimeOfProcess::now() {
  const std::string tasks = fmt::format("/proc/{}/task", process_);
  for (const std::string& thread : list_directory(tasks)) {
    pid_t number = 0;
    const auto [end, error] = std::from_chars(thread.data(), thread.data() + thread.size(), number);
    if (error != std::errc() || end != thread.data() + thread.size()) continue;
    if (const auto text = read_file(fmt::format("{}/{}/schedstat", tasks, number)))
      if (const auto one = core_time_in(*text)) threads_[number] = *one;
  }
  if (threads_.empty()) return {};
  CoreTime sum;
  for (const auto& [number, one] : threads_) sum += one;
  return sum;
}

double cpu_seconds_of_thread() noexcept {
  timespec now{};
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9;
}

// Not CLOCK_PROCESS_CPUTIME_ID: under RLIMIT_CPU it advances only at scheduler ticks.
double cpu_seconds_of_process() noexcept {
  rusage used{};
  ::getrusage(RUSAGE_SELF, &used);
  const auto seconds = [](timeval time) {
    return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) * 1e-6;
  };
  return seconds(used.ru_utime) + seconds(used.ru_stime);
}

pid_t this_thread() noexcept { return ::gettid(); }

CoreContention::CoreContention(unsigned wanted)
    : wanted_(std::max(wanted, 1u)), before_(core_time_of_process()), begin_(steady_now()) {}

double CoreContention::without_core() const {
  const auto after = core_time_of_process();
  const double seconds = fairlead::seconds(steady_now() - begin_);
  if (!before_ || !after || seconds <= 0) return 0;
  return std::clamp(fairlead::seconds((*after - *before_).waiting) / (seconds * wanted_), 0.0, 1.0);
}

}  // namespace fairlead
