// Whether what was decided turns out as it was played: how much of the work is over, and how long that took.
#pragma once
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>

#include "base/time.hpp"
#include "policy/rehearsal.hpp"

namespace fairlead::schedule::rehearsed {

class Progress {
 public:
  enum class Is : std::uint8_t { as_played, late, nearly_over };

  /// Other tasks: nothing is known of them.
  void forget() noexcept { *this = {}; }
  /// So much work was asked about.
  void asked(Time now, Duration work) noexcept {
    since_ = now;
    work_ = work;
    played_.time = done_ = {};
    next_look_ = between_looks;
    watched_ = false;
  }
  /// How long all of it takes; 0: not known.
  void told(const Played& played) noexcept { played_ = played; }
  /// False: there is nothing to compare with, or it has been late often enough.
  bool watch() noexcept { return watched_ = played_.time > Duration{} && times_late_ < most_late; }
  bool watched() const noexcept { return watched_; }
  /// Of a task that is over. Unless it is as played, it is watched no longer.
  Is after(Duration least, Time now) noexcept {
    done_ += least;
    const double part =
        static_cast<double>(done_.count()) / static_cast<double>(std::max<std::int64_t>(1, work_.count()));
    if (part < next_look_) return Is::as_played;
    next_look_ = part + between_looks;
    const bool late = static_cast<double>((now - since_).count()) > expected(part) * (1 + clearly_late);
    if (part < last_look && !late) return Is::as_played;
    watched_ = false;
    if (part >= last_look) return Is::nearly_over;
    ++times_late_;
    return Is::late;
  }

 private:
  /// Until so much was over in the play: between its quarters evenly.
  double expected(double part) const noexcept {
    const std::size_t last = std::min<std::size_t>(static_cast<std::size_t>(4 * part), 3);
    const auto at = [&](std::size_t quarter) {
      return static_cast<double>((quarter == 0   ? Duration{}
                                  : quarter == 4 ? played_.time
                                                 : played_.quarters[quarter - 1])
                                     .count());
    };
    return std::lerp(at(last), at(last + 1), 4 * part - static_cast<double>(last));
  }

  static constexpr double between_looks = 1.0 / 8, last_look = 0.8;  // parts of the work
  static constexpr double clearly_late = 0.1;
  static constexpr unsigned most_late = 2;  // else each costs, where all is late for another reason

  Time since_{};
  Duration work_{}, done_{};
  Played played_;
  double next_look_ = between_looks;
  unsigned times_late_ = 0;
  bool watched_ = false;
};

}  // namespace fairlead::schedule::rehearsed
