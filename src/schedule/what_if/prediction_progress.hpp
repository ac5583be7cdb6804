// Compares the progress of the run with the simulation: the finished work and the time that it took.
#pragma once
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>

#include "base/time.hpp"
#include "policy/what_if_simulation.hpp"

namespace fairlead::schedule::what_if {

class PredictionProgress {
 public:
  /// The run is as predicted, clearly later, or so near to its end that a new decision is useless.
  enum class Is : std::uint8_t { on_time, late, nearly_finished };

  /// Resets everything, for other tasks.
  void forget() noexcept { *this = {}; }
  /// A simulation of the given amount of work starts now.
  void start_prediction(Time now, Duration work) noexcept {
    since_ = now;
    work_ = work;
    predicted_.time = done_ = {};
    next_look_ = between_looks;
    watched_ = false;
  }
  /// Sets the predicted time of all of the work; time 0: unknown.
  void set_prediction(const SimulationOutcome& predicted) noexcept { predicted_ = predicted; }
  /// Starts the comparison. Returns false if there is no prediction, or the run was late often enough.
  bool start_watching() noexcept {
    return watched_ = predicted_.time > Duration{} && times_late_ < most_late;
  }
  bool watched() const noexcept { return watched_; }
  /// Counts a finished task. Any result but on_time ends the comparison.
  Is after(Duration least, Time now) noexcept {
    done_ += least;
    const double part =
        static_cast<double>(done_.count()) / static_cast<double>(std::max<std::int64_t>(1, work_.count()));
    if (part < next_look_) return Is::on_time;
    next_look_ = part + between_looks;
    const bool late = static_cast<double>((now - since_).count()) > expected(part) * (1 + clearly_late);
    if (part < last_look && !late) return Is::on_time;
    watched_ = false;
    if (part >= last_look) return Is::nearly_finished;
    ++times_late_;
    return Is::late;
  }

 private:
  /// The simulated time of that fraction of the work, interpolated linearly within quarters.
  double expected(double part) const noexcept {
    const std::size_t last = std::min<std::size_t>(static_cast<std::size_t>(4 * part), 3);
    const auto at = [&](std::size_t quarter) {
      return static_cast<double>((quarter == 0   ? Duration{}
                                  : quarter == 4 ? predicted_.time
                                                 : predicted_.quarters[quarter - 1])
                                     .count());
    };
    return std::lerp(at(last), at(last + 1), 4 * part - static_cast<double>(last));
  }

  static constexpr double between_looks = 1.0 / 8, last_look = 0.8;  // fractions of the work
  static constexpr double clearly_late = 0.1;
  // Limits the cost of repeated simulations if the run is late for another reason.
  static constexpr unsigned most_late = 2;

  Time since_{};
  Duration work_{}, done_{};
  SimulationOutcome predicted_;
  double next_look_ = between_looks;
  unsigned times_late_ = 0;
  bool watched_ = false;
};

}  // namespace fairlead::schedule::what_if
