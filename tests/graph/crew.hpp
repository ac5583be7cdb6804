// Threads that run the ready tasks of a graph while one more thread submits tasks, as a runtime's workers, but without an
// engine: a queue behind a mutex. A thread keeps tasks that it made ready itself, so that the mutex does not order
// accesses that the graph alone must order.
#pragma once
#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

#include "base/random.hpp"
#include "graph/dependency_graph.hpp"

namespace fairlead::tests {

class Crew {
 public:
  /// `body` runs on any thread. Starts `workers` threads; the caller's thread runs tasks while it waits.
  Crew(graph::DependencyGraph& graph, std::size_t workers, std::uint64_t seed,
       std::function<void(Task&)> body);
  ~Crew();

  /// On the submitting thread: inserts the task, and keeps or shares it if it is ready.
  void submit(Task& task, std::span<const graph::Insertion> accesses);
  /// The submitting thread runs tasks until at most `unfinished` tasks are left; false if more are left, but no thread can
  /// run one.
  bool help(std::size_t unfinished);
  /// As above for all tasks; then the threads end. Call it before reading their results.
  bool finish();

 private:
  /// The state of one thread.
  struct Mate {
    Mate(graph::DependencyGraph& graph, std::uint64_t seed)
        : recycler(graph.tasks(), graph.epochs()), random(seed) {}
    Recycler recycler;
    Random random;
    EventChain ready;
    std::vector<Task*> own;
  };

  std::size_t unfinished() const noexcept { return submitted_ - done_.load(std::memory_order_relaxed); }
  Task* take(Mate& mate);
  void run(Mate& mate, Task& task);
  void keep_or_share(Mate& mate);
  void work(std::uint64_t seed);

  graph::DependencyGraph& graph_;
  std::function<void(Task&)> body_;
  Mate submitter_;
  std::size_t submitted_ = 0;           // on the submitting thread
  std::atomic<std::size_t> done_{0};    // relaxed: it must not order accesses that the graph orders
  std::atomic<std::size_t> shared_{0};  // tasks in queue_; relaxed: a hint
  std::mutex mutex_;                    // guards the four below
  std::condition_variable more_;
  std::vector<Task*> queue_;
  std::size_t asleep_ = 0;
  bool over_ = false;
  std::vector<std::thread> threads_;
};

}  // namespace fairlead::tests
