// The checkpoint from which a run is resumed: which tasks are finished, and the values of data. A datum gets its value from a
// task that writes it, inserted before the first unfinished task that uses the datum.
#pragma once
#include <fairlead/codelet_info.hpp>
#include <fairlead/detail/submission.hpp>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "front/checkpoint/checkpoint_directory.hpp"
#include "front/checkpoint/checkpoint_index.hpp"
#include "front/checkpoint/checkpointed_tasks.hpp"

namespace fairlead::front {

/// Used by the application's thread, except the tasks that restore. All functions throw InputError if the checkpoint is of
/// another program.
class ResumedTasks {
 public:
  /// Inserts a task of the flow.
  using Insert = std::function<void(const detail::Submission&)>;

  /// `directory` must outlive it, and be the one of the index. `tasks`: those of this run.
  ResumedTasks(CheckpointIndex index, const CheckpointDirectory& directory, const CheckpointedTasks& tasks);
  ResumedTasks(const ResumedTasks&) = delete;
  ResumedTasks& operator=(const ResumedTasks&) = delete;

  std::uint64_t finished() const noexcept { return index_.finished(); }
  const std::string& state() const noexcept { return index_.state; }
  /// The task with this number was added to the tasks of this run, one after the other. Returns false if it is finished;
  /// otherwise all data that it uses have their values.
  bool next(const detail::Submission& submission, std::uint64_t number, const Insert& insert);
  /// No task follows: the other data get their values.
  void end(const Insert& insert);
  /// Whether all tasks of the checkpoint were submitted, and all values are restored.
  bool is_complete() const noexcept { return is_replayed_ && unfinished_restores_.load() == 0; }
  /// Whether the task that is being inserted restores a datum.
  bool is_restoring() const noexcept { return is_restoring_; }

 private:
  void restore_data_of(const detail::Submission& submission, const Insert& insert);
  void restore_all(const Insert& insert);
  void restore(std::size_t place, const Insert& insert);
  void read(const SavedDatum& saved, std::byte* to) const;
  static void run_restore(const void*, TaskContext& context);

  const CheckpointIndex index_;
  const CheckpointDirectory& directory_;
  const CheckpointedTasks& tasks_;
  CodeletInfo codelet_;
  std::size_t next_unfinished_ = 0;  // in index_.unfinished
  std::vector<bool> restored_;       // by place in index_.data: the task was inserted
  bool is_replayed_ = false, is_restoring_ = false;
  std::atomic<std::size_t> unfinished_restores_{0};
};

}  // namespace fairlead::front
