// The task source of a recording: records tasks like a flow, and supplies them to the engine in each run.
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

  /// Adds a task. Throws as submit(); also UsageError for blocks of a partition, and after the first run.
  void record(const Submission& submission, const std::shared_ptr<const CodeletInfo>& codelet);
  /// Runs the tasks after all earlier submissions have finished, and waits for them. Throws as wait(); also UsageError
  /// if recorded data do not exist any more, or this thread holds data.
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
  std::uint32_t open_fast_path();

  RecordedTasks tasks_;
};

}  // namespace fairlead::front
