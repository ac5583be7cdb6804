// The unfinished tasks of a flow as a policy sees them ahead: what each still waits for, and for each datum
// the chain of its writers. Built from submitted() and finished() alone, so that the same events give the
// same answers.
#pragma once
#include <cstdint>
#include <deque>
#include <vector>

#include "data/task.hpp"

namespace fairlead::schedule {

/// An unfinished task.
struct AheadTask {
  Task* task = nullptr;           ///< null: finished, or never submitted
  DatumId tile = no_id<DatumId>;  ///< what it writes; of several, the first
  std::uint32_t promised = 0;     ///< of the blockers, those that are planned
  bool planned = false;           ///< the policy's
  std::uint64_t position = 0;     ///< the policy's
  std::uint32_t chain_index = 0;  ///< writers of the tile that were submitted before it in this program
  std::uint64_t level = 0;        ///< the policy's
  std::uint64_t place = 0;        ///< the policy's
  std::uint32_t depth = 0;        ///< tasks on the longest way to it, finished ones of this program too
  std::uint32_t blockers = 0;     ///< unfinished tasks before it, other than the earlier writers of its tile
  AheadTask* previous = nullptr;  ///< the unfinished writer of the tile just before it
  AheadTask* next = nullptr;      ///< the writer of the tile just after it
  std::int64_t work = 0;          ///< ns; the policy's
  std::vector<AheadTask*> successors;  ///< tasks of which it is a blocker

  /// It runs as soon as the earlier writers of its tile have.
  bool unlocked() const noexcept { return blockers == 0; }
  /// It does so once what is planned has run.
  bool unlocked_by_plan() const noexcept { return blockers == promised; }
};

class Lookahead {
 public:
  AheadTask& submitted(Task& task);
  /// No more are submitted for now: if all that were are over before another one is, what comes is another program.
  void closed() noexcept { closed_ = true; }
  /// Replaces `unlocked` with the tasks that waited for this one last, apart from writers of their tiles.
  void finished(const Task& task, std::vector<AheadTask*>& unlocked);
  /// All have finished.
  bool empty() const noexcept { return tasks_.empty(); }
  /// The datum is gone, and with it all that was said of it: its id may be another's.
  void removed(DatumId datum) {
    if (index(datum) < data_.size()) data_[index(datum)] = {};
  }
  /// Null if it is finished or was never submitted.
  AheadTask* find(TaskId id) noexcept {
    const std::uint64_t i = static_cast<std::uint64_t>(id);
    return i < first_ || i - first_ >= tasks_.size() || tasks_[i - first_].task == nullptr
               ? nullptr
               : &tasks_[i - first_];
  }
  /// The first unfinished writer of the tile: the next that runs. Null if there is none.
  AheadTask* next_writer(DatumId datum) noexcept {
    if (index(datum) >= data_.size() || data_[index(datum)].writer == nullptr) return nullptr;
    AheadTask* writer = data_[index(datum)].writer;
    return writer->tile == datum ? data_[index(datum)].first : writer;
  }

  /// Calls `f` with each unfinished task, the last submitted first.
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
      if (AheadTask* reader = find(id); reader != nullptr) f(*reader);
  }

 private:
  struct Datum {
    AheadTask* writer = nullptr;   // the last so far, if unfinished
    AheadTask* first = nullptr;    // the first unfinished one of the chain that ends there
    std::vector<TaskId> readers;   // in program order; some have finished
    std::size_t since_write = 0;   // the first of `readers` behind the last writer
    std::uint32_t program = 0;     // which the next three are about
    std::uint32_t writers = 0;     // submitted so far
    std::uint32_t written_at = 0;  // the depth of the last writer
    std::uint32_t read_at = 0;     // the largest of a reader's since then
    std::size_t unfinished = 0;    // of `readers`
  };
  Datum& datum(DatumId id);
  void forget_finished(Datum& datum);
  static void wait_for(AheadTask& later, AheadTask* earlier);

  std::deque<AheadTask> tasks_;  // by id; addresses stay
  std::uint64_t first_ = 0;      // the id of the front
  std::uint32_t program_ = 0;
  bool closed_ = false;  // since the last was submitted
  std::vector<Datum> data_;
};

}  // namespace fairlead::schedule
