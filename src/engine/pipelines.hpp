// All workers' pipelines: which tasks are picked for whom, how far they are, and what workers did meanwhile.
#pragma once
#include <fairlead/ids.hpp>

#include <cstddef>
#include <span>
#include <vector>

#include "engine/pipeline.hpp"

namespace fairlead::engine {

/// The only one that changes a Pipeline, so that its counts always agree with its tasks. Under the engine's
/// lock.
class Pipelines {
 public:
  /// How long a worker had nothing to do, and whether it waited for data.
  struct Idle {
    Time since{};
    Duration duration{};
    bool for_data = false;
  };

  explicit Pipelines(std::size_t workers) : pipelines_(workers) {}

  const Pipeline& operator[](WorkerId worker) const noexcept { return pipelines_[index(worker)]; }
  std::span<const Pipeline> all() const noexcept { return pipelines_; }
  /// Tasks in all of them, and how many of these wait for memory.
  std::size_t tasks() const noexcept { return tasks_; }
  std::size_t unadmitted() const noexcept { return unadmitted_; }
  /// A worker that is not there may have a staged task.
  bool left_behind() noexcept;

  // ---- workers

  /// True if it is its first time. `in_lane`: what it has run in the direct lane so far, here and below.
  bool arrived(WorkerId worker, Time now, Duration in_lane) noexcept;
  void left(WorkerId worker) noexcept;
  /// For ever. True if it has never arrived: it is not waited for any more.
  bool lost(WorkerId worker) noexcept;
  bool any_lost() const noexcept { return any_lost_; }
  /// Whether a task that takes several workers has this one, or is about to.
  void set_aside(WorkerId worker, bool aside) noexcept { at(worker).aside = aside; }
  /// A worker that stood aside for that long, and has worked for the task for which it did.
  void helped(WorkerId worker, Duration task, Time now, Duration in_lane) noexcept;

  // ---- tasks

  void pick(Task& task, WorkerId worker) noexcept;
  void admitted(const Task& task) noexcept;
  /// It is launched: returns how long its worker had nothing to do.
  Idle stage(Task& task, Time now, Duration in_lane) noexcept;
  /// It came back from its worker without having begun.
  void unstage(Task& task) noexcept;
  /// It ended. True if its worker has nothing staged now although there are tasks for it.
  bool over(Task& task, Time now, Duration in_lane) noexcept;
  /// It is nobody's any more, however far it was.
  void take_out(Task& task) noexcept;
  /// To the end of another worker's, as far as it is.
  void move(Task& task, WorkerId worker) noexcept;

  void asked_back(WorkerId worker) noexcept { ++at(worker).recalls; }
  void answered(WorkerId worker) noexcept { --at(worker).recalls; }
  /// Tasks were handed over: true the first time since the engine was entered.
  bool note_launched(WorkerId worker) noexcept { return !std::exchange(at(worker).launched, true); }
  void forget_launched(WorkerId worker) noexcept { at(worker).launched = false; }

 private:
  Pipeline& at(WorkerId worker) noexcept { return pipelines_[index(worker)]; }

  std::vector<Pipeline> pipelines_;  // by WorkerId
  std::size_t tasks_ = 0, unadmitted_ = 0;
  bool left_behind_ = false, any_lost_ = false;
};

}  // namespace fairlead::engine
