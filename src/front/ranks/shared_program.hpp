// The program that all ranks execute together by flows. Each rank walks through the same tasks in the same order. From
// these alone it derives where each task runs, which values to receive, and which to send. It stores the rank with the
// newest value of each datum, and nothing about other ranks' tasks.
#pragma once
#include <fairlead/detail/submission.hpp>
#include <fairlead/handle.hpp>

#include <atomic>
#include <cstdint>
#include <deque>
#include <exception>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "front/ranks/comparison.hpp"
#include "front/ranks/remote_buffers.hpp"
#include "front/ranks/shared_datum.hpp"
#include "front/ranks/value_traffic.hpp"

namespace fairlead::front {

using detail::Submission;

class SharedProgram {
 public:
  SharedProgram(engine::RuntimeCore& core, net::Communicator& communicator);

  // ---- data, for the program's thread

  /// Allocates `count` consecutive numbers of shared data and returns the first. Numbers are equal on all ranks.
  std::uint32_t allocate_numbers(std::size_t count) noexcept {
    return std::exchange(numbers_, numbers_ + static_cast<std::uint32_t>(count));
  }
  RemoteBuffers& guests() noexcept { return guests_; }
  /// Registers a shared datum. `named`: the descriptor that this rank's handles point to; on the owner rank also the
  /// home.
  void share(engine::RegisteredDatum& named, std::uint32_t number, net::RankId owner, Bytes bytes);
  /// Whether submitted tasks still need a transfer of this datum to or from another rank.
  bool any_of(const engine::RegisteredDatum& datum) const {
    return !has_failed() && traffic_.any_of(datum.id);
  }
  /// Removes a shared datum that is no longer in use.
  void forget(engine::RegisteredDatum& named);

  // ---- tasks

  enum class TaskPlacement : std::uint8_t {
    local,       // no shared data and no on_rank(): a task of this rank alone
    this_rank,   // runs on this rank: call bring() and written()
    other_rank,  // runs on another rank: nothing to do
  };
  /// Processes the next task of the program. Throws RankError if another rank has failed, UsageError for errors that
  /// all ranks detect.
  TaskPlacement next_task(const Submission& submission, const std::shared_ptr<const CodeletInfo>& codelet);
  /// Returns the local data for the uses of a task that runs on this rank, in the same order. Starts receiving remote
  /// values.
  std::span<const Submission::Use> localize_uses(const Submission& submission);
  /// Called after the task was submitted.
  void written(const Submission& submission);
  /// Called if this rank alone rejects the task. The run cannot continue if other ranks rely on a value that the task
  /// would have written, or if bring() did not complete (`brought` is false): they may have sent values for it.
  void task_rejected(const Submission& submission, bool brought, const std::exception_ptr& why);
  /// See Flow::drop_copies().
  void drop_copies(const detail::DatumReference& reference, const char* file, std::uint32_t line);
  /// Throws FootprintError if the task and the space reserved for values in flight do not fit into memory together.
  void check_memory(Bytes footprint, const Submission& submission) const;
  /// Memory reserved for values in flight, in bytes.
  Bytes transfer_reserve() const noexcept;
  /// Throws UsageError if the program must not acquire the data in this way without the other ranks.
  void check_hold(const Submission& submission) const;

  // ---- waiting for all ranks

  /// Whether shared tasks were processed since the last wait.
  bool is_active() const noexcept { return under_way_; }
  /// Starts a wait of all ranks: values written on other ranks are sent to their owners.
  void begin_wait();
  /// Completes the wait: returns when no rank has unfinished work of the common program, or when a rank has failed.
  void end_wait();
  /// Both, for a program that ends without a wait. If it ends by an exception, the other ranks are notified.
  void finish() noexcept;
  bool has_failed() const noexcept { return has_failed_.load(); }
  std::string failure() const;

  // ---- for any thread

  /// The flow's tasks are cancelled when a rank fails.
  void add(TaskSource& flow);
  void remove(TaskSource& flow);
  ProgramComparison& comparison() noexcept { return comparison_; }
  /// A task of this rank failed or did not run. May be called in any state.
  void report_failure(const std::string& why) {
    // After the failure of another rank, tasks of this rank are cancelled.
    if (has_failed() || failed_here_.exchange(true)) return;
    communicator_.report_failure_async(why);
  }

 private:
  static constexpr std::int64_t everywhere = -2;
  /// The rank where the task runs. `hash`: hash of everything that must be equal on all ranks.
  std::int64_t place_of(const Submission& submission, std::uint64_t& hash, bool& common) const;
  static void check_written_everywhere(const Submission& submission);
  void begin();
  void keep(const std::shared_ptr<const CodeletInfo>& codelet);
  void send_value(SharedDatum& datum, net::RankId to);
  void rewritten(SharedDatum& datum, net::RankId by);
  void drop_guest(SharedDatum& datum);
  void touch(SharedDatum& datum) {
    if (std::exchange(datum.touched, true)) return;
    touched_.push_back(&datum);
  }
  bool is_stopped() const noexcept;
  void end_traffic(bool ending);
  void failed(const std::string& why);

  engine::RuntimeCore& core_;
  net::Communicator& communicator_;
  const net::RankId own_;
  RemoteBuffers guests_;
  ProgramComparison comparison_;
  ValueTraffic traffic_;
  std::deque<SharedDatum> data_;
  std::vector<SharedDatum*> unused_, touched_;
  std::vector<std::shared_ptr<const CodeletInfo>> codelets_;  // named in messages of comparisons
  std::uint32_t numbers_ = 0;
  Bytes largest_ = 0;
  bool under_way_ = false;
  std::int64_t place_ = -1;            // rank of the task being processed
  std::vector<Submission::Use> uses_;  // of the task being processed, on this rank
  std::atomic<bool> has_failed_{false}, failed_here_{false};
  mutable std::mutex mutex_;  // guards the fields below
  std::string failure_;
  std::vector<TaskSource*> flows_;
};

}  // namespace fairlead::front
