// What the tasks of each class have in common for the engine: where they can run, and how they are made into
// descriptors.
#pragma once
#include <cstdint>
#include <vector>

#include "front/flow/submission_fit.hpp"
#include "front/ptg/active_task.hpp"
#include "front/ptg/class_table.hpp"
#include "front/ptg/values.hpp"
#include "graph/graph.hpp"

namespace fairlead::ptg {

class TaskKinds {
 public:
  /// Of one class.
  struct Kind {
    TaskFamily ordinary, urgent;
    TaskTraits traits;       ///< but for priority and work
    std::uint8_t lines = 1;  ///< of its active tasks
    bool may_pass = false;   ///< by the direct lane, if its data may
    bool has_priorities = false;
    bool needs_numbers = false;  ///< to be described
  };

  TaskKinds(const ClassTable& table, TaskSource& source);

  const Kind& operator[](std::size_t task_class) const noexcept { return kinds_[task_class]; }
  /// Finds out where they can run. Throws FootprintError for a class whose largest task fits nowhere,
  /// UsageError for one that nobody here can run. Once the values are known.
  void fit(const front::SubmissionFit& fit, Values& values, bool over_ranks);

  /// The descriptor's traits, accesses and closure; `task` is empty. Throws UsageError if a formula divides by 0: then the
  /// descriptor has all of these, but it must not run.
  void fill(Task& task, ActiveTask& active, Values& values) const;

  /// Of the largest task, on the application's memory node.
  Bytes largest_footprint() const noexcept { return largest_footprint_; }
  std::int32_t priority(std::size_t task_class, const std::int64_t* numbers) const;

 private:
  const ClassTable& table_;
  std::vector<Kind> kinds_;  // they stay where they are
  Bytes largest_footprint_ = 0;
};

}  // namespace fairlead::ptg
