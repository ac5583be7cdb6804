// Durations of the tasks of a planned solve: from the durations that earlier runs on this machine have kept, otherwise
// from the rates of kernels. They come with the range in which measured durations of such tasks lie.
#pragma once
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "algorithms/linalg/blas/kernel_rates.hpp"
#include "front/runtime/virtual_time.hpp"
#include "model/duration_model.hpp"

namespace fairlead::solver {

/// Time of tasks, and the bounds of what it may be.
struct TimeRange {
  double least = 0, expected = 0, most = 0;  ///< seconds
  /// The bounds relative to the expected time; 1 without any time.
  double least_share() const noexcept { return expected > 0 ? least / expected : 1; }
  double most_share() const noexcept { return expected > 0 ? most / expected : 1; }
};

class TaskTimes final : public front::TaskClock {
 public:
  /// `measure`: the rates of kernels, in 10^9 operations per second; called at most once, if a task is not in `kept`.
  TaskTimes(const model::KeptDurations& kept, std::function<linalg::KernelRates()> measure);

  Duration start(const Task& task, const model::Footprint& footprint) override;

  /// Of all tasks started so far.
  const TimeRange& busy() const noexcept { return busy_; }
  /// Of these, the part whose durations were measured, from 0 to 1: tasks of the same size, and tasks of other sizes.
  double measured_share() const noexcept { return share(measured_seconds_); }
  double extrapolated_share() const noexcept { return share(extrapolated_seconds_); }
  /// Kinds of tasks for which only assumptions exist, in alphabetical order.
  const std::set<std::string>& assumed() const noexcept { return assumed_; }

 private:
  /// The duration of tasks of one kind and size; the bounds are relative to it.
  struct Known {
    Duration duration{};
    double least = 1, most = 1;
    model::Basis basis = model::Basis::nothing;
  };
  double share(double seconds) const noexcept { return busy_.expected > 0 ? seconds / busy_.expected : 0; }
  const Known& known(const Task& task, const model::Footprint& footprint);
  Known find(const Task& task, const model::Footprint& footprint);
  const linalg::KernelRates& rates();
  Duration as_largest(const CodeletInfo& codelet, const model::Footprint& footprint) const;
  Duration by_rate(const CodeletInfo& codelet, const model::Footprint& footprint);
  void set_spread(Known& known, const CodeletInfo& codelet, const model::Footprint& footprint) const;

  std::function<linalg::KernelRates()> measure_;
  std::optional<linalg::KernelRates> rates_;
  model::DurationModel model_;
  std::map<std::pair<std::string, std::string>, std::vector<model::DurationRecord>>
      kept_;                                        // of cores, by codelet, body
  std::unordered_map<std::uint64_t, Known> known_;  // by codelet, body and footprint
  TimeRange busy_;
  double measured_seconds_ = 0, extrapolated_seconds_ = 0;
  std::set<std::string> assumed_;
};

}  // namespace fairlead::solver
