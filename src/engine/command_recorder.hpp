// A World that collects the commands of an engine for one batch of events, and executes none.
#pragma once
#include <string>
#include <utility>
#include <vector>

#include "base/event.hpp"
#include "engine/world.hpp"
#include "machine/topology.hpp"

namespace fairlead::engine {

class CommandRecorder final : public World {
 public:
  void launch(WorkerId worker, Task& task) override { launches_.emplace_back(task.id, worker); }
  void recall(WorkerId worker, Task& task) override { recalls_.emplace_back(task.id, worker); }
  void start(memory::Copy&) override {}
  void wake(WakeTarget) noexcept override {}

  /// Describes the first few commands of each kind; `others`: the commands that the engine returned to the thread that
  /// entered.
  std::string text(const Commands& others, const Topology& topology) const;
  void clear() noexcept {
    launches_.clear();
    recalls_.clear();
  }

 private:
  std::vector<std::pair<TaskId, WorkerId>> launches_, recalls_;
};

/// An event, for messages; its task or copy may be gone.
struct EventSummary {
  EventKind kind = EventKind::timer;
  Time at{};
  std::uint64_t subject = 0;  ///< the id of the task or copy

  EventSummary() = default;
  explicit EventSummary(const Event& event);
  std::string text() const;
};

}  // namespace fairlead::engine
