// Whether the counter can be used, and its rate.
#include "base/fast_clock.hpp"

#if defined(__x86_64__)
#include <cpuid.h>
#endif

namespace fairlead {

namespace {
constexpr std::chrono::microseconds comparison{200};

bool counter_is_steady() noexcept {
#if defined(__x86_64__)
  unsigned a = 0, b = 0, c = 0, d = 0;
  return __get_cpuid(0x80000007, &a, &b, &c, &d) != 0 && (d & (1u << 8)) != 0;  // "invariant TSC"
#else
  return false;
#endif
}
}  // namespace

FastClock::FastClock() : began_(std::chrono::steady_clock::now()) {
#if defined(__x86_64__)
  if (!counter_is_steady()) return;
  first_ = __rdtsc();
  std::chrono::steady_clock::time_point end;
  std::uint64_t last = 0;
  do {
    last = __rdtsc();
    end = std::chrono::steady_clock::now();
  } while (end - began_ < comparison);
  const auto nanoseconds = static_cast<std::uint64_t>(std::chrono::nanoseconds(end - began_).count());
  if (last > first_)
    scale_ = static_cast<std::uint64_t>((static_cast<Wide>(nanoseconds) << 32) / (last - first_));
#endif
}

}  // namespace fairlead
