// The bottom level of a task: the least time from its start to the end of the graph, with unbounded resources
// (Gonthier, Marchal, Thibault 2023, section 6). Of a flow only the window is known, so these are levels in
// what has been submitted: computed anew when the flow waits, and each time a quarter of the unfinished tasks
// is new. One walk costs a few ns per unfinished task and edge; a task is in at most five or so.
#pragma once
#include <cstdint>
#include <vector>

#include "policy/view.hpp"
#include "schedule/index/lookahead.hpp"

namespace fairlead::schedule {

/// For a policy with Interest::submitted and Interest::progress, which passes the events on.
class BottomLevels {
 public:
  void attach(const View& view);

  void submitted(Task& task);
  void horizon_closed();
  /// The task is finished, or cancelled.
  void over(const Task& task);
  void removed(DatumId datum) { graph_.removed(datum); }

  /// ns from the start of the task to the end of what was submitted when levels were computed last; of a
  /// newer task its own duration. 0 if it was never submitted.
  std::int64_t level(TaskId id) {
    const AheadTask* task = graph_.find(id);
    return task == nullptr ? 0 : static_cast<std::int64_t>(task->level);
  }
  /// How often levels have been computed: what was sorted by them is to be sorted anew when this changes.
  std::uint64_t computed() const noexcept { return computed_; }

 private:
  static constexpr std::size_t fewest_new = 64;

  std::int64_t shortest(const Task& task) const;
  void compute();

  const View* view_ = nullptr;
  std::vector<WorkerId> one_of_each_kind_;
  Lookahead graph_;
  std::size_t unfinished_ = 0;
  std::size_t new_tasks_ = 0;  // since the last computation
  std::uint64_t computed_ = 0;
  std::vector<AheadTask*> unlocked_;
};

}  // namespace fairlead::schedule
