// Determines how many tasks a worker is given ahead: enough to overlap copies with tasks, and no more, so that
// decisions are made late.
#pragma once
#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "base/time.hpp"

namespace fairlead::engine {

class PipelineDepth {
 public:
  static constexpr std::size_t largest = 16;  // for depths that follow copy times

  /// `fixed`: the depth; 0: it follows the durations of tasks and copies. `streams`: workers that share an accelerator
  /// and take tasks from each other; together they need no more tasks ahead than one worker, and tasks ahead hold
  /// memory.
  explicit PipelineDepth(std::size_t fixed, std::size_t streams = 1) noexcept
      : fixed_(fixed != 0), most_(std::max(smallest, largest / std::max<std::size_t>(streams, 1))) {
    depth_ = fixed_ ? std::min(fixed, largest) : std::min(depth_, most_);
  }
  std::size_t depth() const noexcept { return depth_; }

  void copy_over(Duration duration) noexcept {
    ++copies_;
    copy_time_ += duration;
  }
  /// A worker has tasks, but none staged.
  void starved() noexcept { ++starved_; }
  void task_over(Duration duration) noexcept {
    task_time_ += duration;
    if (++tasks_ == adapt_every) adapt();
  }

 private:
  static constexpr Duration short_task{
      5'000};  // below this, handing over a task costs more than a long pipeline harms
  static constexpr Duration tiny_task{1'000};  // below this, handing over a task takes longer than the task
  static constexpr std::size_t tiny_task_depth = 24, short_task_depth = 8, smallest = 4;
  static constexpr std::int64_t adapt_every = 32;  // in finished tasks

  void adapt() noexcept {
    if (!fixed_) {
      const Duration task = task_time_ / tasks_;
      if (task < tiny_task) {
        depth_ = tiny_task_depth;
      } else if (task < short_task) {
        depth_ = short_task_depth;
      } else if (copies_ == 0) {
        depth_ = 2;
      } else {
        const auto cover = static_cast<std::size_t>(copy_time_ / copies_ / task) + 2;
        depth_ = std::clamp(cover + starved_, smallest, most_);
      }
    }
    tasks_ = copies_ = 0;
    task_time_ = copy_time_ = Duration{};
    starved_ = 0;
  }

  const bool fixed_;
  const std::size_t most_;  // limit for depths that follow copies
  std::size_t depth_ = 8;
  // Since the last adaptation.
  std::int64_t tasks_ = 0, copies_ = 0;
  Duration task_time_{}, copy_time_{};
  std::size_t starved_ = 0;
};

}  // namespace fairlead::engine
