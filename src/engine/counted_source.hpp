// Common base class of a runtime's task sources: counts their tasks, waits for them, and adds them to the backlog while
// they have more ready tasks.
#pragma once
#include <cstdint>

#include "data/task_source.hpp"
#include "engine/runtime_core.hpp"

namespace fairlead::engine {

/// Work of the application's thread that interrupts its waits for tasks.
class WaitInterruption {
 public:
  virtual ~WaitInterruption() = default;
  /// Cheap. Whatever makes it true wakes the application.
  virtual bool is_due() const noexcept = 0;
  /// Called outside of bodies. May throw: the wait ends.
  virtual void serve() = 0;
};

class CountedSource : public TaskSource {
 public:
  explicit CountedSource(RuntimeCore& core);
  ~CountedSource() override;

  std::uint64_t submitted() const noexcept { return submitted_; }
  std::uint64_t done() const noexcept { return progress_.done(); }
  void count(std::size_t tasks, Recycler& recycler) override;
  /// The application's thread works until this many tasks are finished. Returns false if that cannot happen before the
  /// application releases its holds.
  bool wait_until_done(std::uint64_t target, bool ending = false);

 protected:
  // ---- application's thread

  void count_submitted(std::uint64_t tasks) noexcept {
    submitted_ += tasks;
    core_.sources().count_submitted(tasks);
  }
  /// Makes the tasks without predecessors available: hands out the first batch now, the others as threads ask for them.
  /// They are already counted as submitted.
  void hand_out();
  /// Stops further requests for tasks. Call it before destroying anything that more() uses.
  void stop_handing_out() noexcept { core_.engine().backlog().forget(*this); }
  /// Whether progress_ has counted this many tasks. If not, the thread that is about to count them wakes the
  /// application, which calls this again.
  bool is_counted(std::uint64_t tasks) noexcept {
    progress_.set_target(tasks);
    return progress_.reached(tasks);
  }

  // ---- called by more()

  /// Notifies a planning policy of a future task before the task is handed out, in an order in which the tasks could
  /// run. The task must be in its final descriptor, with its data. Does nothing under other policies.
  void announce(Task& task) { core_.engine().submitted(task); }
  bool to_be_announced() const noexcept { return core_.engine().wants_submissions(); }

  // ---- any thread

  /// A release has left ready tasks for more() to hand out.
  void has_more_ready() { core_.engine().backlog().add(*this); }

  RuntimeCore& core_;
  WaitInterruption* interruption_ = nullptr;  // null: none
  SourceProgress& progress_;
  std::uint64_t submitted_ = 0;
};

}  // namespace fairlead::engine
