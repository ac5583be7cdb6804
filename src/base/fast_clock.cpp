// Decides whether the time stamp counter can be used, and measures its rate.
#include "base/fast_clock.hpp"

#if defined(__x86_64__)
#include <cpuid.h>
#endif

namespace fairlead {

namespace {
constexpr std::chrono::microseconds comparison{200};

#if defined(__x86_64__)
/// Both clocks at one moment. Of several tries, the one with the least time between the readings counts: an interrupt
/// or a page fault during a reading would be an error of 1 % of the comparison.
struct Moment {
  std::uint64_t ticks = 0;
  std::chrono::steady_clock::time_point time;
};
Moment moment() noexcept {
  Moment best;
  std::uint64_t shortest = ~std::uint64_t{0};
  for (int i = 0; i < 8; ++i) {
    const std::uint64_t before = __rdtsc();
    const auto time = std::chrono::steady_clock::now();
    const std::uint64_t after = __rdtsc();
    if (after - before >= shortest) continue;
    shortest = after - before;
    best = {before + shortest / 2, time};
  }
  return best;
}
#endif

bool counter_is_steady() noexcept {
#if defined(__x86_64__)
  unsigned a = 0, b = 0, c = 0, d = 0;
  return __get_cpuid(0x80000007, &a, &b, &c, &d) != 0 && (d & (1u << 8)) != 0;  // CPUID: "invariant TSC"
#else
  return false;
#endif
}
}  // namespace

FastClock::FastClock() : began_(std::chrono::steady_clock::now()) {
#if defined(__x86_64__)
  if (!counter_is_steady()) return;
  const Moment first = moment();  // after the CPUID above, which is slow under a hypervisor
  while (std::chrono::steady_clock::now() - first.time < comparison) {
  }
  const Moment last = moment();
  first_ = first.ticks;
  began_ = first.time;
  const auto nanoseconds =
      static_cast<std::uint64_t>(std::chrono::nanoseconds(last.time - first.time).count());
  if (last.ticks > first.ticks)
    scale_ = static_cast<std::uint64_t>((static_cast<Wide>(nanoseconds) << 32) / (last.ticks - first.ticks));
#endif
}

}  // namespace fairlead
