// What all sources of a runtime's tasks do alike: they count them, wait for them, and have the rest of what is
// ready asked for.
#pragma once
#include <cstdint>

#include "data/task_source.hpp"
#include "engine/runtime_core.hpp"

namespace fairlead::engine {

class CountedSource : public TaskSource {
 public:
  explicit CountedSource(RuntimeCore& core);
  ~CountedSource() override;

  std::uint64_t submitted() const noexcept { return submitted_; }
  std::uint64_t done() const noexcept { return progress_.done(); }
  void count(std::size_t tasks, Recycler& recycler) override;
  /// The application's thread works until so many are done. False if that will not be before the application
  /// releases what it holds.
  bool wait_until_done(std::uint64_t target, bool ending = false);

 protected:
  // ---- the application's thread's

  void count_submitted(std::uint64_t tasks) noexcept {
    submitted_ += tasks;
    core_.sources().count_submitted(tasks);
  }
  /// There are tasks that wait for nothing: the first of them are handed out now, the others as threads ask
  /// for them. They were counted as submitted.
  void hand_out();
  /// Nobody asks for any more, nor will. Before what more() needs goes.
  void stop_handing_out() noexcept { core_.engine().backlog().forget(*this); }
  /// So many are counted, and whoever has counted the last one has told so; if he is about to, he wakes the application,
  /// which asks again.
  bool has_told(std::uint64_t tasks) noexcept {
    progress_.set_target(tasks);
    return progress_.reached(tasks);
  }

  // ---- more()'s

  /// Tells a planning policy of a task ahead, in an order in which the tasks could run, before it is handed
  /// out: the descriptor in which it will be, with its data. Nothing happens under other policies.
  void announce(Task& task) { core_.engine().submitted(task); }
  bool to_be_announced() const noexcept { return core_.engine().wants_submissions(); }

  // ---- any thread's

  /// A release has left something, which more() has.
  void left_something() { core_.engine().backlog().add(*this); }

  RuntimeCore& core_;
  Progress& progress_;
  std::uint64_t submitted_ = 0;
};

}  // namespace fairlead::engine
