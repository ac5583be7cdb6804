// Hears what an engine commands in answer to one batch of events, and carries out nothing.
#pragma once
#include <string>
#include <utility>
#include <vector>

#include "base/event.hpp"
#include "engine/world.hpp"
#include "machine/topology.hpp"

namespace fairlead::engine {

class HeardCommands final : public World {
 public:
  void launch(WorkerId worker, Task& task) override { launches_.emplace_back(task.id, worker); }
  void recall(WorkerId worker, Task& task) override { recalls_.emplace_back(task.id, worker); }
  void start(memory::Copy&) override {}
  void wake(Who) noexcept override {}

  /// In words, the first few of each kind; `others` are those that the engine gave to whoever entered it.
  std::string text(const Commands& others, const Topology& topology) const;
  void clear() noexcept {
    launches_.clear();
    recalls_.clear();
  }

 private:
  std::vector<std::pair<TaskId, WorkerId>> launches_, recalls_;
};

/// What happened, to which task or copy, and when; the task or copy may be gone.
struct ToldEvent {
  EventKind kind = EventKind::time_passed;
  Time at{};
  std::uint64_t subject = 0;  ///< of tasks and copies: the id

  ToldEvent() = default;
  explicit ToldEvent(const Event& event);
  std::string text() const;
};

}  // namespace fairlead::engine
