// The graph of a flow's unfinished tasks, for policies that look ahead: the dependencies of each task, and for each
// datum the chain of its writers. It depends only on submitted() and finished(), so equal events give equal results.
#pragma once
#include <cstdint>
#include <deque>
#include <vector>

#include "data/task.hpp"

namespace fairlead::schedule {

/// An unfinished task.
struct WindowTask {
  Task* task = nullptr;                ///< null: finished, or never submitted
  DatumId tile = no_id<DatumId>;       ///< the datum that it writes; of several, the first
  std::uint32_t planned_blockers = 0;  ///< number of planned blockers
  bool planned = false;                ///< for the policy
  std::uint64_t position = 0;          ///< for the policy
  std::uint32_t chain_index = 0;       ///< earlier writers of the tile in this program
  std::uint64_t level = 0;             ///< for the policy
  std::uint64_t place = 0;             ///< for the policy
  /// Length of the longest path to it, in tasks, including finished ones of this program.
  std::uint32_t depth = 0;
  std::uint32_t blockers = 0;           ///< unfinished predecessors, except earlier writers of its tile
  WindowTask* previous = nullptr;       ///< previous unfinished writer of the tile
  WindowTask* next = nullptr;           ///< next writer of the tile
  std::int64_t work = 0;                ///< ns; for the policy
  std::vector<WindowTask*> successors;  ///< tasks that it blocks

  /// True if the task depends only on the earlier writers of its tile.
  bool unlocked() const noexcept { return blockers == 0; }
  /// True if it will depend only on those once the planned tasks have run.
  bool unlocked_by_plan() const noexcept { return blockers == planned_blockers; }
};

class TaskGraphWindow {
 public:
  WindowTask& submitted(Task& task);
  /// No more tasks are submitted for now. If all tasks finish before the next submission, the next task starts another
  /// program.
  void closed() noexcept { closed_ = true; }
  /// Replaces `unlocked` by the tasks whose last blocker was this task.
  void finished(const Task& task, std::vector<WindowTask*>& unlocked);
  /// True if all tasks have finished.
  bool empty() const noexcept { return tasks_.empty(); }
  /// Forgets the datum, whose id may be reused.
  void removed(DatumId datum) {
    if (index(datum) < data_.size()) data_[index(datum)] = {};
  }
  /// Null if the task has finished or was never submitted.
  WindowTask* find(TaskId id) noexcept {
    const std::uint64_t i = static_cast<std::uint64_t>(id);
    return i < first_ || i - first_ >= tasks_.size() || tasks_[i - first_].task == nullptr
               ? nullptr
               : &tasks_[i - first_];
  }
  /// The first unfinished writer of the tile, which runs next; null if there is none.
  WindowTask* next_writer(DatumId datum) noexcept {
    if (index(datum) >= data_.size() || data_[index(datum)].writer == nullptr) return nullptr;
    WindowTask* writer = data_[index(datum)].writer;
    return writer->tile == datum ? data_[index(datum)].first : writer;
  }

  /// Calls `f` with each unfinished task, in reverse order of submission.
  template <class F>
  void for_each_backwards(F&& f) {
    for (auto task = tasks_.rbegin(); task != tasks_.rend(); ++task)
      if (task->task != nullptr) f(*task);
  }

  /// Calls `f` with each unfinished task that reads the datum.
  template <class F>
  void for_each_reader(DatumId datum, F&& f) {
    if (index(datum) >= data_.size()) return;
    for (const TaskId id : data_[index(datum)].readers)
      if (WindowTask* reader = find(id); reader != nullptr) f(*reader);
  }

 private:
  struct Datum {
    WindowTask* writer = nullptr;  // the last writer so far, if unfinished
    WindowTask* first = nullptr;   // the first unfinished writer of the chain that ends there
    std::vector<TaskId> readers;   // in program order; some have finished
    std::size_t since_write = 0;   // index in `readers` of the first one after the last writer
    std::uint32_t program = 0;     // the program to which the next three fields apply
    std::uint32_t writers = 0;     // writers submitted so far
    std::uint32_t written_at = 0;  // depth of the last writer
    std::uint32_t read_at = 0;     // largest depth of a reader since then
    std::size_t unfinished = 0;    // number of unfinished `readers`
  };
  Datum& datum(DatumId id);
  void forget_finished(Datum& datum);
  static void wait_for(WindowTask& later, WindowTask* earlier);

  std::deque<WindowTask> tasks_;  // by id; addresses are stable
  std::uint64_t first_ = 0;       // id of the front
  std::uint32_t program_ = 0;
  bool closed_ = false;  // since the last submission
  std::vector<Datum> data_;
};

}  // namespace fairlead::schedule
