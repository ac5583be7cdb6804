// The pipelines of all workers: the picked tasks and their states, and the times in which workers were busy or idle.
#pragma once
#include <fairlead/ids.hpp>

#include <cstddef>
#include <span>
#include <vector>

#include "engine/pipeline.hpp"

namespace fairlead::engine {

/// Only this class changes a Pipeline, so its counts always agree with its tasks. Under the engine's lock.
class Pipelines {
 public:
  /// A period without a task to run, and whether the worker waited for data.
  struct Idle {
    Time since{};
    Duration duration{};
    bool for_data = false;
  };

  explicit Pipelines(std::size_t workers) : pipelines_(workers) {}

  const Pipeline& operator[](WorkerId worker) const noexcept { return pipelines_[index(worker)]; }
  std::span<const Pipeline> all() const noexcept { return pipelines_; }
  /// Tasks in all pipelines, and how many of them wait for memory.
  std::size_t tasks() const noexcept { return tasks_; }
  std::size_t unadmitted() const noexcept { return unadmitted_; }
  /// Whether an absent worker may have a staged task.
  bool left_behind() noexcept;

  // ---- workers

  /// Returns true at the first arrival. `in_fast_path`, here and below: the worker's total time in fast-path tasks.
  bool arrived(WorkerId worker, Time now, Duration in_fast_path) noexcept;
  void left(WorkerId worker) noexcept;
  /// The worker leaves for good. Returns true if it never arrived: then it need not be waited for.
  bool lost(WorkerId worker) noexcept;
  bool any_lost() const noexcept { return any_lost_; }
  /// Whether a task of several workers, or a pause, reserves this worker. Both may: calls are counted.
  void set_aside(WorkerId worker, bool aside) noexcept { aside ? ++at(worker).aside : --at(worker).aside; }
  /// The worker stood aside and worked for a task of several workers, for this duration.
  void account_span_help(WorkerId worker, Duration task, Time now, Duration in_fast_path) noexcept;

  // ---- tasks

  void pick(Task& task, WorkerId worker) noexcept;
  void admitted(const Task& task) noexcept;
  /// The task is launched. Returns how long its worker was idle.
  Idle stage(Task& task, Time now, Duration in_fast_path) noexcept;
  /// The task came back from its worker without having started.
  void unstage(Task& task) noexcept;
  /// The task finished. Returns true if its worker has tasks, but none staged.
  bool over(Task& task, Time now, Duration in_fast_path) noexcept;
  /// Removes the task, in whatever state, from its pipeline.
  void take_out(Task& task) noexcept;
  /// Moves the task, with its state, to the end of another worker's pipeline.
  void move(Task& task, WorkerId worker) noexcept;

  void asked_back(WorkerId worker) noexcept { ++at(worker).recalls; }
  void answered(WorkerId worker) noexcept { --at(worker).recalls; }
  /// Tasks were launched. Returns true the first time since the engine was entered.
  bool note_launched(WorkerId worker) noexcept { return !std::exchange(at(worker).launched, true); }
  void forget_launched(WorkerId worker) noexcept { at(worker).launched = false; }

 private:
  Pipeline& at(WorkerId worker) noexcept { return pipelines_[index(worker)]; }

  std::vector<Pipeline> pipelines_;  // by WorkerId
  std::size_t tasks_ = 0, unadmitted_ = 0;
  bool left_behind_ = false, any_lost_ = false;
};

}  // namespace fairlead::engine
