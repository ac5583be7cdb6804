// FlowSource, the untyped implementation of Flow: inserts tasks in program order and infers dependencies from their
// accesses to data.
#pragma once
#include <fairlead/detail/submission.hpp>

#include <atomic>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "engine/counted_source.hpp"
#include "front/checkpoint/checkpointer.hpp"
#include "front/flow/flow_outcome.hpp"
#include "front/flow/submission_fit.hpp"
#include "front/flow/submission_window.hpp"

namespace fairlead::front {

using detail::Submission;
class SharedProgram;

/// Rarely used properties of a task: explicit predecessors and a completion callback.
struct SubmissionOrder {
  std::vector<std::shared_ptr<ObservedTask>> after;
  std::function<void(std::exception_ptr)> on_done;
};

class FlowSource : public engine::CountedSource {
 public:
  explicit FlowSource(engine::RuntimeCore& core);
  /// Calls finish() if it was not called, and prints failures that wait() has not thrown.
  ~FlowSource() override;

  /// Runs tasks until all tasks of the flow have finished. Their failures are lost if wait() was not called. Returns
  /// false if the caller must not wait or the run was stopped; unfinished tasks then need this object as long as the
  /// runtime exists.
  bool finish() noexcept;

  /// Inserts a task; runs tasks while the window is full. Throws FootprintError if the task's data fit into no empty
  /// memory node. Throws UsageError for a datum without a value and for a call in the wrong thread.
  void submit(const Submission& submission) {
    core_.caller().check("submit");
    if (checkpointer_ == nullptr || checkpointer_->next(submission)) insert(submission);
  }
  /// As above; also keeps the codelet alive as long as the flow.
  void submit(const Submission& submission, const std::shared_ptr<const CodeletInfo>& codelet,
              std::shared_ptr<ObservedTask> watched = nullptr, const SubmissionOrder* order = nullptr) {
    core_.caller().check("submit");
    if (common_program_ != nullptr && submit_to_common_program(submission, codelet, watched, order)) return;
    if (checkpointer_ != nullptr) [[unlikely]] {
      if (watched != nullptr) checkpointer_->require_unobserved(submission);
      if (!checkpointer_->next(submission)) return;
    }
    retain(codelet);
    insert(submission, std::move(watched), order);
  }
  /// Runs tasks until all tasks of the flow have finished. Throws the first failure as a TaskError that nests it and
  /// counts the others.
  void wait();
  /// Tasks that have not started finish without running.
  void cancel() {
    core_.caller().check_process("cancel");
    core_.engine().cancel(*this);
    if (engine::HoldSource* const holds = holds_.load()) core_.engine().cancel(*holds);
    // Wakes up tasks blocked on memory, and threads that wait for tasks of which none may start: no other event may
    // follow.
    core_.world().process_remote_events_and_retry();
    core_.world().wake(engine::WakeTarget::application());
  }
  using HoldCallback = std::function<void(const std::shared_ptr<engine::OpenHold>&)>;
  /// Runs tasks until the program holds the data. `access_of_use`: the index in the record's locations, for each use.
  /// Throws as submit(); also TaskError if an input is missing or the flow was cancelled, UsageError if the wait is for
  /// data that this thread holds.
  std::shared_ptr<engine::OpenHold> acquire(const Submission& submission,
                                            std::vector<detail::AccessIndex>& access_of_use);
  /// Returns immediately. `callback` is called when the data are available, or when it is certain that they
  /// will not be.
  void acquire_then(const Submission& submission, std::vector<detail::AccessIndex>& access_of_use,
                    HoldCallback callback);
  /// Throws TaskError with the reason why the data are not available.
  [[noreturn]] static void throw_refused(const engine::OpenHold& record);
  /// The exception that throw_refused() throws.
  static std::exception_ptr reason_of(const engine::OpenHold& record);
  /// Makes the view the active one. Modified replicas of the previous view are written back first. The view must not be
  /// active already.
  void activate_view(engine::RegisteredView& view, const char* file, std::uint32_t line);
  void release(Task& task, ReadyTasks& ready) override;

 protected:
  struct Gathered;
  FlowOutcome& outcome() noexcept { return outcome_; }
  const SubmissionFit& fit() const noexcept { return fit_; }
  void gather(const Submission& submission, Gathered& out) const;
  static PlaceHint place_of(const Submission& submission, const Gathered& gathered) noexcept;
  /// The properties of a task other than its data. `excluded`: from SubmissionFit::nodes_excluded(). `together`: see
  /// SubmissionFit::workers_wanted().
  static TaskTraits traits_of(const Submission& submission, const Gathered& gathered, std::uint32_t excluded,
                              std::uint16_t together) noexcept;
  bool enter_fast_path(engine::RegisteredDatum& datum, std::uint32_t fast_path);
  /// Throws the reason if the run was stopped. Task failures that result from the stop are not reported again.
  void throw_if_stopped();

 private:
  friend class Checkpointer;  // sets checkpointer_, and inserts tasks that restore data
  void insert(const Submission& submission, std::shared_ptr<ObservedTask> watched = nullptr,
              const SubmissionOrder* order = nullptr);
  /// Submits the task to the program common to all ranks. Returns false if the task belongs to this rank
  /// alone, and must still be inserted.
  bool submit_to_common_program(const Submission& submission,
                                const std::shared_ptr<const CodeletInfo>& codelet,
                                const std::shared_ptr<ObservedTask>& watched, const SubmissionOrder* order);
  Task& make_task(const Submission& submission, Gathered& gathered, std::uint32_t excluded,
                  std::uint16_t together);
  void insert_task(Task& task, const Submission& submission, const Gathered& gathered,
                   std::shared_ptr<ObservedTask> watched, const SubmissionOrder* order);
  void insert_switch(engine::RegisteredView& view, const char* file, std::uint32_t line);
  void activate_views(const Submission& submission);
  /// Allocates a task of this flow; it is not in the graph yet.
  Task& new_task(const TaskTraits& traits, std::size_t accesses);
  /// Notifies policies that look ahead. Fills in the accesses that insertion into the graph is about to write.
  void announce(Task& task, std::span<const graph::Insertion> insertions);
  void post_ready(Task& task);
  void retain(const std::shared_ptr<const CodeletInfo>& codelet);
  /// Writes the task to the file of the setting `record-flow`.
  void record_task(const Submission& submission, const Gathered& gathered,
                   std::span<const engine::SubmissionRecorder::Use> uses, const SubmissionOrder* order);
  /// The generation of the fast path if the task may take it, otherwise 0.
  std::uint32_t fast_path_for(const TaskTraits& traits, const Submission& submission,
                              const Gathered& gathered);
  /// Folds partial results that the task needs, and assigns partial results to the data that it reduces.
  void follow_reductions(const Submission& submission, Gathered& gathered);
  /// The task, already in the graph, replaces the value of data: discards partial results of the former
  /// value.
  void replace_reduced(const Submission& submission, const Gathered& gathered);
  void fold(engine::Reduction& reduction, const char* file, std::uint32_t line);
  void fold_if_open(const engine::RegisteredDatum& datum, const char* file, std::uint32_t line);
  void insert_fold(const engine::Reduction& reduction, engine::RegisteredDatum& partial, const char* file,
                   std::uint32_t line);
  std::shared_ptr<engine::OpenHold> request_hold(const Submission& wanted,
                                                 std::vector<detail::AccessIndex>& access_of_use,
                                                 HoldCallback callback);
  /// Inserts a hold after all submitted tasks. `description`: names the callback in messages, in case it
  /// throws.
  std::shared_ptr<engine::OpenHold> insert_hold(engine::HoldSource& source, const Submission& submission,
                                                const Gathered& gathered,
                                                std::vector<detail::AccessIndex>& access_of_use,
                                                HoldCallback callback, std::string description);
  /// Calls the task's on_done when the data that it wrote in the program's memory are up to date there.
  /// Inserts a hold after the task for this.
  void call_after_write_back(const Submission& task, const std::shared_ptr<ObservedTask>& watched,
                             std::function<void(std::exception_ptr)> on_done);

  std::vector<std::shared_ptr<const CodeletInfo>> codelets_;
  const CodeletInfo* last_codelet_ = nullptr;
  SubmissionWindow window_{core_};
  const SubmissionFit fit_{core_};
  FlowOutcome outcome_{core_};
  bool finished_ = false;
  std::uint64_t next_fast_path_trial_ = 0;  // retry opening the fast path at this number of submitted tasks
  bool stop_reported_ =
      false;  // wait() has thrown the reason why the run stopped; all failures result from it
  std::atomic<engine::HoldSource*> holds_{nullptr};  // created at the flow's first acquire
  engine::HoldSource* write_back_holds_ = nullptr;   // for on_done callbacks; not cancelled with the tasks
  SharedProgram* const common_program_;   // the program common to all ranks; null: this is the only rank
  Checkpointer* checkpointer_ = nullptr;  // null: without checkpoints
  const TaskFamily common_{.source = this, .described = true, .in_graph = true};  // shared tasks
  bool is_common_ = false;   // the task being inserted is shared
  bool has_common_ = false;  // a shared task was submitted since the last wait of all ranks
};

}  // namespace fairlead::front
