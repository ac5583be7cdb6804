// How a rank's workers spend their time: they compute, they are idle while a requested value is in flight, or they are
// idle without one.
#pragma once
#include <cstddef>
#include <functional>
#include <utility>

#include "base/time.hpp"

namespace fairlead::simulate {

class RankTime {
 public:
  explicit RankTime(std::size_t workers) : workers_(workers), idle_(workers) {}

  void task_starts(Time now) noexcept { advance(now), --idle_; }
  void on_task_end(Time now) {
    advance(now), ++idle_, last_end_ = now;
    if (all_but_one_compute() && between_tasks_) between_tasks_();
  }
  bool all_compute() const noexcept { return idle_ == 0; }
  bool all_but_one_compute() const noexcept { return idle_ == 1; }
  /// `call` is called whenever a task finishes after which a worker is idle, if until then all workers computed.
  void between_tasks(std::function<void()> call) { between_tasks_ = std::move(call); }
  void count_awaited(Time now, bool more) noexcept { advance(now), more ? ++awaited_ : --awaited_; }
  /// The run has finished on all ranks.
  void ends(Time now) noexcept { advance(now); }

  // ---- sums over the workers

  Duration computing() const noexcept { return computing_; }
  Duration waiting_for_network() const noexcept { return for_network_; }
  Duration waiting_for_others() const noexcept { return for_others_; }
  Time last_end() const noexcept { return last_end_; }

 private:
  void advance(Time now) noexcept {
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
