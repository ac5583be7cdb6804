// The source of a recording's tasks: it records them like a flow's, and hands them out as often as they are run.
#pragma once
#include <cstdint>
#include <memory>

#include "front/flow/flow_source.hpp"
#include "front/recording/recorded_tasks.hpp"

namespace fairlead::front {

class RecordingSource final : public FlowSource {
 public:
  explicit RecordingSource(engine::RuntimeCore& core) : FlowSource(core), tasks_(*this) {}
  ~RecordingSource() override;

  /// Adds a task. Throws as submit(); UsageError also for parts of data, and when the recording has run.
  void record(const Submission& submission, const std::shared_ptr<const CodeletInfo>& codelet);
  /// Runs the tasks when all that was submitted before is over, and waits until they are. Throws as wait();
  /// UsageError if data are gone, or this thread holds some.
  void run();
  std::size_t tasks() const noexcept { return tasks_.size(); }

  void release(Task& over, ReadyTasks& ready) override;
  bool more(ReadyTasks& ready) override { return tasks_.run.more(ready); }
  Task& describe(LazyTask& task, Recycler& recycler) override;
  void look_ahead(const LazyTask& task) const noexcept override;
  void given_away() noexcept override {
    if (tasks_.run.alone) tasks_.run.alone = false;
  }

 private:
  std::uint32_t open_lane();

  RecordedTasks tasks_;
};

}  // namespace fairlead::front
