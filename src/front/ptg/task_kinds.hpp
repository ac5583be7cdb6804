// The properties of each task class that the engine uses: where its tasks can run, and how to fill in
// descriptors.
#pragma once
#include <fairlead/detail/submission.hpp>

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "front/flow/submission_fit.hpp"
#include "front/ptg/class_table.hpp"
#include "front/ptg/flow_values.hpp"
#include "front/ptg/task_instance.hpp"
#include "graph/dependency_graph.hpp"

namespace fairlead::ptg {

/// One per graph; immutable after fit().
class TaskKinds {
 public:
  /// The properties that the tasks of one class share.
  struct Kind {
    TaskFamily ordinary, urgent;
    TaskTraits traits;       ///< except priority and work
    std::uint8_t lines = 1;  ///< cache lines of a record
    bool may_pass = false;   ///< may take the fast path, if its data do
    bool has_priorities = false;
    bool needs_numbers = false;  ///< descriptors need the values of the indices
  };

  TaskKinds(const ClassTable& table, TaskSource& source);

  const Kind& operator[](std::size_t task_class) const noexcept { return kinds_[task_class]; }
  /// Determines where the tasks can run. Call once the values are known. Throws FootprintError for a class with a
  /// task that fits in no memory, and UsageError for one without a worker.
  void determine_workers(const front::SubmissionFit& fit, FlowValues& values, bool over_ranks);

  /// Fills in traits, accesses and closure of an empty descriptor. Throws UsageError if a formula divides by 0: the
  /// descriptor is then complete, but must not run.
  void fill_descriptor(Task& task, TaskInstance& active, FlowValues& values) const;

  /// In bytes, of the largest task in host memory; valid after fit().
  Bytes largest_footprint() const noexcept { return largest_footprint_; }
  std::int32_t priority(std::size_t task_class, const std::int64_t* numbers) const;

 private:
  const ClassTable& table_;
  std::vector<Kind> kinds_;  // its elements do not move: tasks refer to them
  Bytes largest_footprint_ = 0;
};

/// The error of a task that cannot take the datum of this input from memory, because of `why`.
std::string refused_input(const ClassTable& table, const FlowValues& values, const TaskInstance& task,
                          std::size_t flow, const Input& input, const std::int64_t* numbers,
                          const std::string& why);

/// How a task of the flow accesses its value: a fresh datum has no value yet, so none is transferred.
AccessMode access_of(const TableFlow& flow, const FlowValue& value, const std::int64_t* numbers);

/// Calls use(submission) with the call of the task's codelet on these data, one for each flow that has data; a null handle:
/// none. The submission has no priority and no source line. Throws UsageError if a formula divides by 0.
void with_submission(const TableClass& of, const std::int64_t* numbers,
                     const std::vector<const void*>& handles,
                     const std::function<void(const fairlead::detail::Submission&)>& use);

}  // namespace fairlead::ptg
