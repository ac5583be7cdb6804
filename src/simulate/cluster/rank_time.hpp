// Where the time of a rank's workers goes: they compute, or there is nothing to do; and then either something that the
// rank has asked others for is on its way, or nothing is.
#pragma once
#include <cstddef>
#include <functional>
#include <utility>

#include "base/time.hpp"

namespace fairlead::simulate {

class RankTime {
 public:
  explicit RankTime(std::size_t workers) : workers_(workers), idle_(workers) {}

  void task_starts(Time now) noexcept { passes(now), --idle_; }
  void task_ends(Time now) {
    passes(now), ++idle_, last_end_ = now;
    if (all_but_one_compute() && between_tasks_) between_tasks_();
  }
  bool all_compute() const noexcept { return idle_ == 0; }
  bool all_but_one_compute() const noexcept { return idle_ == 1; }
  /// Is called whenever a task is over and all workers have computed.
  void between_tasks(std::function<void()> call) { between_tasks_ = std::move(call); }
  void awaits(Time now, bool more) noexcept { passes(now), more ? ++awaited_ : --awaited_; }
  /// The run is over on all ranks.
  void ends(Time now) noexcept { passes(now); }

  // ---- of all workers together

  Duration computing() const noexcept { return computing_; }
  Duration waiting_for_network() const noexcept { return for_network_; }
  Duration waiting_for_others() const noexcept { return for_others_; }
  Time last_end() const noexcept { return last_end_; }

 private:
  void passes(Time now) noexcept {
    const Duration passed = now - since_;
    since_ = now;
    computing_ += passed * static_cast<std::int64_t>(workers_ - idle_);
    (awaited_ != 0 ? for_network_ : for_others_) += passed * static_cast<std::int64_t>(idle_);
  }
  const std::size_t workers_;
  std::size_t idle_, awaited_ = 0;
  Time since_{}, last_end_{};
  std::function<void()> between_tasks_;
  Duration computing_{}, for_network_{}, for_others_{};
};

}  // namespace fairlead::simulate
