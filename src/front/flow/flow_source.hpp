// A flow: tasks inserted in program order, dependencies inferred from how they access data. This is its inner
// half, without types; the public Flow puts types on it.
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
#include "front/flow/flow_outcome.hpp"
#include "front/flow/submission_fit.hpp"
#include "front/flow/submission_window.hpp"

namespace fairlead::front {

using detail::Submission;
class CommonProgram;

/// What few tasks have.
struct Order {
  std::vector<std::shared_ptr<WatchedTask>> after;
  std::function<void(std::exception_ptr)> on_done;
};

class FlowSource : public engine::CountedSource {
 public:
  explicit FlowSource(engine::RuntimeCore& core);
  /// finish(), if nobody did. Says what failed if nobody was told.
  ~FlowSource() override;

  /// Works until all its tasks are over; their failures are lost if wait() was not called. False if the
  /// caller must not wait or the run was stopped: then unfinished tasks need it as long as the runtime lives.
  bool finish() noexcept;

  /// Inserts a task; works on tasks itself while the window is full. Throws FootprintError if no empty node
  /// could hold what it uses, UsageError if it reads what nobody wrote or is called by the wrong thread.
  void submit(const Submission& submission) {
    core_.caller().check("submit");
    insert(submission);
  }
  /// The same; what the task needs of the codelet stays as long as the flow.
  void submit(const Submission& submission, const std::shared_ptr<const CodeletInfo>& codelet,
              std::shared_ptr<WatchedTask> watched = nullptr, const Order* order = nullptr) {
    core_.caller().check("submit");
    if (common_program_ != nullptr && pass_over_ranks(submission, codelet, watched, order)) return;
    retain(codelet);
    insert(submission, std::move(watched), order);
  }
  /// Works until all tasks are over. Throws the first failure, as a TaskError that nests it and counts the
  /// others.
  void wait();
  /// Tasks that have not started will complete without running.
  void cancel() {
    core_.caller().check_process("cancel");
    core_.engine().cancel(*this);
    if (engine::HoldSource* const holds = holds_.load()) core_.engine().cancel(*holds);
    // Who waits for memory hears of it now, and who waits for tasks of which none may begin: perhaps nothing else comes.
    core_.world().serve_surely_for_others();
    core_.world().wake(engine::Who::application());
  }
  using Told = std::function<void(const std::shared_ptr<engine::OpenHold>&)>;
  /// Works until the data are the application's. `access_of_use`: which of the record's places each use got.
  /// Throws as submit(), TaskError if an input is poisoned or the flow was cancelled, UsageError if it would
  /// wait for what this thread holds.
  std::shared_ptr<engine::OpenHold> acquire(const Submission& submission,
                                            std::vector<std::uint8_t>& access_of_use);
  /// Returns at once; `told` is called when the data are there, or when they cannot be had.
  void acquire_then(const Submission& submission, std::vector<std::uint8_t>& access_of_use, Told told);
  /// Throws TaskError saying why the data could not be had.
  [[noreturn]] static void throw_refused(const engine::OpenHold& record);
  /// What that throws.
  static std::exception_ptr reason_of(const engine::OpenHold& record);
  /// The view is the active one from now on; before, what is dirty of the other goes home. Not if it is
  /// active.
  void show(engine::DatumView& view, const char* file, std::uint32_t line);
  void release(Task& task, ReadyTasks& ready) override;

 protected:
  struct Gathered;
  FlowOutcome& outcome() noexcept { return outcome_; }
  const SubmissionFit& fit() const noexcept { return fit_; }
  void gather(const Submission& submission, Gathered& out) const;
  static PlaceHint place_of(const Submission& submission, const Gathered& gathered) noexcept;
  /// What the task asks for, besides its data. `excluded`, `together`: see the two above.
  static TaskTraits traits_of(const Submission& submission, const Gathered& gathered, std::uint32_t excluded,
                              std::uint16_t together) noexcept;
  bool let_in(engine::RegisteredDatum& datum, std::uint32_t lane);
  /// And failures of tasks, which come from that, are not told again.
  void throw_if_stopped();

 private:
  void insert(const Submission& submission, std::shared_ptr<WatchedTask> watched = nullptr,
              const Order* order = nullptr);
  /// Over ranks: true if that was all. False: it is this rank's alone.
  bool pass_over_ranks(const Submission& submission, const std::shared_ptr<const CodeletInfo>& codelet,
                       const std::shared_ptr<WatchedTask>& watched, const Order* order);
  Task& make_task(const Submission& submission, Gathered& gathered, std::uint32_t excluded,
                  std::uint16_t together);
  void put_in(Task& task, const Submission& submission, const Gathered& gathered,
              std::shared_ptr<WatchedTask> watched, const Order* order);
  void insert_switch(engine::DatumView& view, const char* file, std::uint32_t line);
  void show_all(const Submission& submission);
  /// A task of this flow that is not in the graph yet.
  Task& new_task(const TaskTraits& traits, std::size_t accesses);
  /// To policies that look ahead, with what inserting into the graph is about to write.
  void announce(Task& task, std::span<const graph::Insertion> insertions);
  void tell_ready(Task& task);
  void retain(const std::shared_ptr<const CodeletInfo>& codelet);
  /// Into the file that somebody wants of the flow.
  void write_down(const Submission& submission, const Gathered& gathered,
                  std::span<const engine::SubmissionBook::Use> uses, const Order* order);
  /// The generation of the direct lane in which the task may pass, or 0.
  std::uint32_t lane_for(const TaskTraits& traits, const Submission& submission, const Gathered& gathered);
  /// Data whose partial results have to be folded before the task, and those that it reduces.
  void follow_reductions(const Submission& submission, Gathered& gathered);
  /// Data whose value the task, which is in the graph, replaces: what was added to that is not folded any more.
  void replace_reduced(const Submission& submission, const Gathered& gathered);
  void fold(engine::Reduction& reduction, const char* file, std::uint32_t line);
  void fold_if_open(const engine::RegisteredDatum& datum, const char* file, std::uint32_t line);
  void insert_fold(const engine::Reduction& reduction, engine::RegisteredDatum& partial, const char* file,
                   std::uint32_t line);
  std::shared_ptr<engine::OpenHold> request(const Submission& wanted,
                                            std::vector<std::uint8_t>& access_of_use, Told told);
  /// The turn of a hold comes after all that was submitted. `whose`: for messages, if `told` throws.
  std::shared_ptr<engine::OpenHold> insert_hold(engine::HoldSource& of, const Submission& submission,
                                                const Gathered& gathered,
                                                std::vector<std::uint8_t>& access_of_use, Told told,
                                                std::string whose);
  /// The task's on_done is called when what it wrote in the program's memory is there: by a hold that follows
  /// it.
  void call_when_home(const Submission& task, const std::shared_ptr<WatchedTask>& watched,
                      std::function<void(std::exception_ptr)> on_done);

  std::vector<std::shared_ptr<const CodeletInfo>> codelets_;
  const CodeletInfo* last_codelet_ = nullptr;
  SubmissionWindow window_{core_};
  const SubmissionFit fit_{core_};
  FlowOutcome outcome_{core_};
  bool finished_ = false;
  std::uint64_t next_lane_trial_ = 0;  // in tasks submitted
  bool stop_heard_ = false;            // wait() has told what stopped the run, from which all failures come
  std::atomic<engine::HoldSource*> holds_{nullptr};  // made when the flow first acquires something
  engine::HoldSource* homecomings_ = nullptr;  // of what on_done waits for: not cancelled with the tasks
  CommonProgram* const common_program_;        // of all ranks; null: the runtime computes alone
  const TaskFamily common_{.source = this, .described = true, .in_graph = true};  // of its tasks
  bool is_common_ = false;                                                        // what is being inserted
  bool has_common_ = false;  // since all ranks waited together
};

}  // namespace fairlead::front
