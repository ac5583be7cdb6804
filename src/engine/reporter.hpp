// How one thread tells the engine what happened, and carries out what the engine answers. Finished tasks are
// told in batches; the engine always hears of a task's end before it hears of the successors that became
// ready by it.
#pragma once
#include <deque>
#include <vector>

#include "engine/engine.hpp"
#include "graph/graph.hpp"

namespace fairlead::engine {

class Reporter {
 public:
  /// `id` < Options::reporters, one per thread; a worker's own has the worker's number.
  Reporter(Engine& engine, World& world, graph::Graph& graph, std::uint16_t id);

  /// Notes that the task's body is over; the engine learns of it by report().
  void finished(Task& task, Time at, Duration duration);
  std::size_t unreported() const noexcept { return batch_.size(); }
  /// Tells the engine of all finished tasks, releases their successors, and serves.
  void report();

  /// Adds an event that report() or serve() passes on.
  void add(Event& event) noexcept { events_.append(event); }
  void add(EventChain& events) noexcept;
  /// Passes events on, serves if nobody else does, and carries out the commands.
  void serve();
  /// As serve(), but waits for the engine's lock.
  void serve_surely();

  Recycler& recycler() noexcept { return recycler_; }

 private:
  void carry_out();
  void complete(std::vector<Task*>& tasks);
  void recycle_applied();

  Engine& engine_;
  World& world_;
  std::uint16_t id_;
  Recycler recycler_;
  EventChain finished_, events_;
  std::vector<Task*> batch_;     // finished, not reported
  std::deque<Task*> unapplied_;  // reported; the engine may still look at them
  std::vector<Task*> cancelled_;
  std::uint64_t forgotten_ = 0;
  Commands commands_;
};

}  // namespace fairlead::engine
