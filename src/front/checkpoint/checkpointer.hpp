// Makes checkpoints of the tasks of one flow, and resumes from the one that was found.
//
// A checkpoint is a consistent cut: between two tasks, the newest values of all data and the set of finished tasks. The set
// contains the predecessors of each of its tasks, since a task starts when these have finished. All workers pause while
// values that are only in memory are written to the spill file, which has a name then; values that were evicted before are
// there already. Later evictions use the other place of their slot (backend/disk/slot_places.hpp).
//
// A resumed run submits the same tasks. Those that were finished are skipped (resumed_tasks.hpp).
#pragma once
#include <fairlead/checkpointed_state.hpp>
#include <fairlead/detail/submission.hpp>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <vector>

#include "backend/disk/checksums.hpp"
#include "backend/disk/spill_file.hpp"
#include "base/time.hpp"
#include "engine/counted_source.hpp"
#include "front/checkpoint/checkpoint_directory.hpp"
#include "front/checkpoint/checkpoint_timer.hpp"
#include "front/checkpoint/checkpointed_tasks.hpp"
#include "front/checkpoint/resumed_tasks.hpp"

namespace fairlead::front {

class FlowSource;

/// Used by the application's thread, unless stated otherwise.
class Checkpointer final : public engine::WaitInterruption {
 public:
  struct Settings {
    Duration period{};  ///< from the end of a checkpoint to the next one
    CheckpointTimer::Stop stop{};
  };
  /// The other objects must outlive it; they may be constructed later. Throws as CheckpointDirectory.
  Checkpointer(const std::filesystem::path& directory, engine::RuntimeCore& core, backend::SpillFile& spill,
               const backend::Checksums& checksums, Settings settings);
  Checkpointer(const Checkpointer&) = delete;
  Checkpointer& operator=(const Checkpointer&) = delete;

  /// The file of data of this run. Once.
  FileDescriptor make_data_file() { return directory_.make_data_file(); }

  /// Checkpoints cover the tasks that the flow submits from now on, up to its next wait. Returns how many of them are
  /// finished. Throws UsageError if the flow has unfinished tasks, InputError that states what differs if the checkpoint that
  /// was found is of another computation. A second call starts another computation: the former one, and its checkpoint, do
  /// not count any more.
  std::uint64_t use(CheckpointIdentity identity, FlowSource& flow, CheckpointedState state = {});
  /// The results are safe elsewhere: removes the checkpoint.
  void remove() noexcept;

  // ---- for the flow

  /// The next task. Makes a checkpoint before it if one is due. Returns false if the task is finished. Throws UsageError if
  /// checkpoints cannot cover the task, InputError if it is not a task of the program that made the checkpoint.
  bool next(const detail::Submission& submission);
  /// For a task with a future, a callback or predecessors, or data that the program acquires: throws UsageError if
  /// checkpoints should cover it.
  void require_unobserved(const detail::Submission& submission);
  /// The task of the last next(), or one that restores a datum, runs under this id.
  void runs_as(TaskId id);
  /// Any thread: the task has succeeded, or not.
  void finished(TaskId id, bool succeeded);
  /// All tasks are submitted: data that none of them uses get their saved values. Throws InputError if the checkpoint that is
  /// resumed has more tasks.
  void all_submitted();
  /// All tasks have finished. Checkpoints continue until a task writes their data.
  void complete() noexcept;

  // ---- checkpoints

  bool is_due() const noexcept override { return timer_.is_due(); }
  void serve() override { make_checkpoint(); }
  /// Makes a checkpoint, unless that is impossible now. Failures to write are reported as warnings. Throws
  /// CheckpointStop afterwards if a stop was requested, and the error that stopped the run, if any.
  void make_checkpoint();
  /// Makes a checkpoint as soon as possible, then stops the run. Returns false, without effect, if there are no tasks to
  /// cover. Any thread.
  bool request_stop() noexcept;
  std::size_t threads() const noexcept { return timer_.threads(); }
  /// Ends the thread. The destructor of the core may follow.
  void end() noexcept { timer_.end(); }

 private:
  /// Of the computation.
  enum class Phase : std::uint8_t {
    none,      // no use() yet
    open,      // tasks are submitted or unfinished
    complete,  // all are finished, and data have their final values
    closed,    // data may have other values, or a task has failed
  };
  bool is_open() const noexcept { return phase_.load(std::memory_order_relaxed) == Phase::open; }
  void require_same(const CheckpointIdentity& identity) const;
  void require_coverable(const detail::Submission& submission) const;
  void follow_complete(const detail::Submission& submission);
  ResumedTasks::Insert insert();
  bool is_possible();
  bool save();
  bool collect(CheckpointIndex& index, std::vector<Bytes>& slots);
  bool warn(const std::string& why);

  CheckpointDirectory directory_;
  engine::RuntimeCore& core_;
  backend::SpillFile& spill_;
  const backend::Checksums& checksums_;
  const Duration period_;
  std::atomic<Phase> phase_{Phase::none};
  FlowSource* flow_ = nullptr;
  CheckpointIdentity identity_;
  CheckpointedState state_;
  std::unique_ptr<CheckpointedTasks> tasks_;
  std::unique_ptr<ResumedTasks> resumed_;  // null: from the beginning
  std::uint64_t submitted_before_ = 0,
                inserted_ = 0;  // tasks of the runtime before use(), and of the flow since
  // A task was numbered and is not inserted yet, or saved data are being restored: there would be no consistent cut.
  bool is_submitting_ = false;
  int stops_put_off_ = 0;
  CheckpointTimer timer_;
};

}  // namespace fairlead::front
