// A bandwidth cap that works as a timetable: each transfer books the next free interval, as long as its bytes take at
// the cap. It starts no earlier than the interval and is not reported before the interval ends. So concurrent threads
// wait for consecutive intervals, and no bandwidth is lost.
#pragma once
#include <fairlead/ids.hpp>

#include <algorithm>

#include "base/time.hpp"

namespace fairlead::backend {

/// Passive: no clock, no lock.
class BandwidthCap {
  __extension__ using Wide = unsigned __int128;

 public:
  /// How far before `now` an interval may start: threads wake up late, which must not lower the bandwidth. After a
  /// pause this is also the burst above the cap: 1.25 MB at 250 MB/s.
  static constexpr Duration most_behind = std::chrono::milliseconds(5);

  struct Stretch {
    Time begin, end;
  };

  /// `bytes_per_second` 0: no cap, all intervals are empty.
  explicit BandwidthCap(Bytes bytes_per_second) noexcept : bytes_per_second_(bytes_per_second) {}

  bool active() const noexcept { return bytes_per_second_ > 0; }

  Stretch book(Bytes bytes, Time now) noexcept {
    return active() ? book_from(bytes, now - most_behind) : Stretch{now, now};
  }
  /// As book(), for a transfer that could have started at `earliest`.
  Stretch book_from(Bytes bytes, Time earliest) noexcept {
    if (!active()) return {earliest, earliest};
    const auto product = static_cast<Wide>(bytes) * 1'000'000'000 + (bytes_per_second_ - 1);  // rounds up
    const auto nanoseconds = static_cast<Duration::rep>(product / bytes_per_second_);
    const Time begin = std::max(next_free_, earliest);
    next_free_ = begin + Duration(nanoseconds);
    return {begin, next_free_};
  }

 private:
  Bytes bytes_per_second_;
  Time next_free_{0};
};

}  // namespace fairlead::backend
