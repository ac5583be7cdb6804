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

#include "data/task_source.hpp"
#include "engine/runtime_core.hpp"

namespace fairlead::front {

using detail::Submission;

/// How a task went that somebody waits for by itself. Written once, before `over`.
struct WatchedTask {
  std::exception_ptr failure;
  bool cancelled = false;
  std::string text;  // what it was, if it did not succeed
  std::atomic<bool> over{false};

  /// Throws TaskError if the task failed or was not run.
  void rethrow() const;
};

class FlowSource final : public TaskSource {
 public:
  explicit FlowSource(engine::RuntimeCore& core);
  /// finish(), if nobody did.
  ~FlowSource() override;

  /// Works until all its tasks are over; their failures are lost if wait() was not called. False if the
  /// caller must not wait or the run was stopped: then unfinished tasks need it as long as the runtime lives.
  bool finish() noexcept;

  /// Inserts a task; works on tasks itself while the window is full. Throws FootprintError if no empty node
  /// could hold what it uses, UsageError if it reads what nobody wrote or is called by the wrong thread.
  void submit(const Submission& submission) {
    core_.check_caller("submit");
    insert(submission);
  }
  /// The same; what the task needs of the codelet stays as long as the flow.
  void submit(const Submission& submission, const std::shared_ptr<const CodeletInfo>& codelet,
              std::shared_ptr<WatchedTask> watched = nullptr) {
    core_.check_caller("submit");
    retain(codelet);
    insert(submission, std::move(watched));
  }
  /// Works until all tasks are over. Throws the first failure, as a TaskError that nests it and counts the
  /// others.
  void wait();
  /// Tasks that have not started will complete without running.
  void cancel() {
    core_.check_process("cancel");
    core_.engine().cancel(*this);
  }
  std::uint64_t submitted() const noexcept { return submitted_; }
  std::uint64_t done() const noexcept { return progress_.done(); }

  void completed(std::span<Task* const> tasks, EventChain& ready, Recycler& recycler) override;

 private:
  void insert(const Submission& submission, std::shared_ptr<WatchedTask> watched = nullptr);
  void tell(const Task& task);
  void retain(const std::shared_ptr<const CodeletInfo>& codelet);
  void check_footprint(const Submission& submission) const;
  std::string describe(const Task& task) const;
  void record(const Task& task);
  void wait_until_done(std::uint64_t target);

  engine::RuntimeCore& core_;
  std::vector<std::shared_ptr<const CodeletInfo>> codelets_;
  const CodeletInfo* last_codelet_ = nullptr;
  std::uint64_t submitted_ = 0;  // the submitter's
  bool finished_ = false;
  engine::Progress& progress_;
  std::mutex failure_mutex_;  // guards what follows
  std::exception_ptr failure_;
  std::string failed_task_;
  std::uint64_t failed_ = 0, cancelled_ = 0;
  std::unordered_map<TaskId, std::shared_ptr<WatchedTask>> watched_;  // likewise
  std::atomic<std::size_t> watched_count_{0};                         // its size
};

}  // namespace fairlead::front
