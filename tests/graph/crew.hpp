// Threads that run the ready tasks of a graph while one more submits them, as a runtime's workers would, but
// without an engine: a queue behind a mutex, and what a thread made ready itself kept with it, so that the
// mutex does not order what the graph alone has to order.
#pragma once
#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

#include "base/random.hpp"
#include "graph/graph.hpp"

namespace fairlead::tests {

class Crew {
 public:
  /// `body` runs on any thread. `workers` threads are started; the caller's helps when it waits.
  Crew(graph::Graph& graph, std::size_t workers, std::uint64_t seed, std::function<void(Task&)> body);
  ~Crew();

  /// The submitting thread's: inserts the task and keeps or shares it if it is ready.
  void submit(Task& task, std::span<const graph::Insertion> accesses);
  /// The submitting thread works until at most `unfinished` tasks are; false if nobody can go on although
  /// more are.
  bool help(std::size_t unfinished);
  /// As above for all tasks; then the threads end. Call before looking at what they did.
  bool finish();

 private:
  /// What one thread has for itself.
  struct Mate {
    Mate(graph::Graph& graph, std::uint64_t seed) : recycler(graph.tasks(), graph.epochs()), random(seed) {}
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

  graph::Graph& graph_;
  std::function<void(Task&)> body_;
  Mate submitter_;
  std::size_t submitted_ = 0;           // the submitter's
  std::atomic<std::size_t> done_{0};    // relaxed: it must not order what the graph orders
  std::atomic<std::size_t> shared_{0};  // tasks in queue_; relaxed: a hint
  std::mutex mutex_;                    // guards the four below
  std::condition_variable more_;
  std::vector<Task*> queue_;
  std::size_t asleep_ = 0;
  bool over_ = false;
  std::vector<std::thread> threads_;
};

}  // namespace fairlead::tests
