// Times memcpy by one thread, by two threads, and page by page.
#include "backend/cpu/measure_memory.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <latch>
#include <vector>

#include "base/core_time.hpp"
#include "base/guarded_thread.hpp"

namespace fairlead::backend {

namespace {

constexpr std::size_t repetitions = 5, pages = 64;
constexpr Bytes page = 4096;

/// The median CPU time of f(), in seconds.
template <class F>
double seconds_of(F&& f) {
  std::array<double, repetitions> times;
  for (double& time : times) {
    const double begin = cpu_seconds_of_thread();
    f();
    time = cpu_seconds_of_thread() - begin;
  }
  std::ranges::nth_element(times, times.begin() + repetitions / 2);
  return std::max(times[repetitions / 2], 1e-9);
}

}  // namespace

MemoryMeasurement measure_memory(Bytes bytes) {
  std::vector<std::byte> here(bytes, std::byte{1}), there(bytes, std::byte{2});
  std::vector<std::byte> here_too(bytes, std::byte{3}), there_too(bytes, std::byte{4});
  const auto size = static_cast<double>(bytes);
  MemoryMeasurement figures;
  figures.copy_rate = size / seconds_of([&] { std::memcpy(there.data(), here.data(), bytes); });
  double other_seconds = 1e-9;
  const double one_seconds = [&] {
    std::latch both_run(2);
    JoinedThreads other;
    other.start(
        [&] {
          both_run.arrive_and_wait();
          other_seconds = seconds_of([&] { std::memcpy(here_too.data(), there_too.data(), bytes); });
        },
        ignore_failure);
    both_run.arrive_and_wait();
    return seconds_of([&] { std::memcpy(there.data(), here.data(), bytes); });
  }();  // the other thread has ended
  figures.duplex_rate = size / one_seconds + size / other_seconds;
  // One page in each of many strides, so that the data are not cached.
  const Bytes stride = bytes / pages / page * page;
  const double some = seconds_of([&] {
    for (std::size_t i = 0; i < pages; ++i)
      std::memcpy(there.data() + i * stride, here_too.data() + i * stride,
                  std::min(page, bytes - i * stride));
  });
  figures.latency = Duration(static_cast<std::int64_t>(some * 1e9 / pages));
  return figures;
}

}  // namespace fairlead::backend
