// A library to be loaded before all others, for ranks that share cores: a thread that waits by calling sched_yield()
// again and again sleeps instead, at most an eighth of the time that it has waited. Two MPIs and the threads that poll
// them wait in this way; with more ranks than cores they would take most of the cores' time from the ranks that compute.
#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <ctime>

namespace {

constexpr std::int64_t longest_gap_ns = 200'000;  // between calls that belong to one wait
constexpr std::int64_t awake_ns = 50'000;         // a wait begins without sleeping
constexpr std::int64_t shortest_sleep_ns = 20'000, longest_sleep_ns = 500'000;

std::int64_t now_ns() {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return now.tv_sec * std::int64_t{1'000'000'000} + now.tv_nsec;
}

}  // namespace

extern "C" int sched_yield() noexcept {
  static thread_local std::int64_t wait_start = 0, last_call_end = 0;
  const std::int64_t now = now_ns();
  if (now - last_call_end > longest_gap_ns) wait_start = now;
  const std::int64_t waited = now - wait_start;
  if (waited < awake_ns) {
    syscall(SYS_sched_yield);
  } else {
    const timespec time{0, std::clamp(waited / 8, shortest_sleep_ns, longest_sleep_ns)};
    nanosleep(&time, nullptr);
  }
  last_call_end = now_ns();
  return 0;
}
