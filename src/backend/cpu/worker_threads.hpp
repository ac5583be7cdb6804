// Workers as threads. Each runs its staged tasks, tasks of the fast path, and chores, and reports completions to the
// engine in batches. The application's thread is a worker whenever it waits. An idle worker spins for some
// microseconds, then sleeps, and is woken only if there is work for it.
#pragma once
#include <atomic>
#include <cstddef>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <thread>
#include <vector>

#include "backend/addresses.hpp"
#include "backend/backend.hpp"
#include "backend/cpu/mailbox.hpp"
#include "backend/cpu/sleeper.hpp"
#include "backend/cpu/steal_threshold.hpp"
#include "backend/cpu/tiny_bodies.hpp"
#include "base/core_time.hpp"
#include "base/fast_clock.hpp"
#include "engine/runtime_core.hpp"

namespace fairlead::backend {

struct WorkersSettings {
  std::size_t cores = 1;             ///< workers on cores, the application's thread included
  std::size_t others = 0;            ///< workers of devices; numbered after those of cores
  std::vector<unsigned> processors;  ///< one per core worker, to bind it to; empty: no binding
  Duration spin{50'000};             ///< how long an idle worker spins before it sleeps
};

class WorkerThreads {
 public:
  /// `nothing_runs`: called by the application's thread after the run was stopped and no body is running.
  WorkerThreads(WorkersSettings settings, std::function<void()> nothing_runs);
  ~WorkerThreads();

  /// Starts no thread before begin(), so that chores can be added.
  void prepare(engine::Engine& engine, engine::RunnableWorld& world, graph::DependencyGraph& graph,
               engine::EngineClient& application, const Addresses& addresses);
  void give(WorkerId worker, Chore& chore) { workers_[index(worker)]->chores.push_back(&chore); }
  void watch(Poller& lookout) { lookout_ = &lookout; }
  void run_by(WorkerId worker, DeviceProcessor& processor) {
    workers_[index(worker)]->processor = &processor;
  }
  /// Starts the threads. Throws SystemError if the system refuses one.
  void begin();
  /// Joins the threads; chores are no longer run.
  void end();
  /// Call it before the engine is destroyed.
  void release_reporters() noexcept;

  /// The action of an idle thread.
  enum class Idle : std::uint8_t {
    wait,    // waits for more work
    leaves,  // returns to the program
  };
  /// As in RunnableWorld: help() and work_off().
  void help(const std::function<bool()>& done, Idle when_idle);
  bool needs_wake_up() const noexcept { return asleep_.load() > 0; }
  void launch(WorkerId id, Task& task);
  void recall(WorkerId id, Task& task);
  void gathered(Task& task, std::span<const WorkerId> workers);
  void span_released(std::span<const WorkerId> workers);
  void wake(engine::WakeTarget who) noexcept;
  /// The node's workers start no more tasks; the engine recalls those that they have. Any thread.
  void lose(NodeId node) noexcept;
  bool in_body(WorkerId worker) const noexcept {
    return workers_[index(worker)]->in_body.load(std::memory_order_relaxed);
  }
  /// Core time of the worker's thread since begin(). Any thread.
  std::optional<CoreTime> core_time(WorkerId worker) const;
  bool ending() const noexcept { return ending_.load(); }
  std::size_t count() const noexcept { return workers_.size(); }
  Time now() const noexcept { return clock_.now(); }

 private:
  struct Worker {
    Mailbox mailbox;
    Sleeper sleeper;
    std::unique_ptr<engine::EngineClient> reporter;  // null for worker 0, which uses the application's
    std::thread thread;
    Event arrival;
    Event refusal;     // one is enough: the engine recalls one task at a time
    Time last_end{};   // used by its thread: when it last read the clock
    Time next_look{};  // used by its thread: time of the next poll of the network
    bool clock_is_fresh = false;
    std::atomic<bool> in_body{false};  // written by its thread, for diagnostics
    Time first_unreported{};
    TinyBodies tiny;
    StealThreshold restraint;
    WorkerKind kind = WorkerKind::cpu;
    std::atomic<bool> lost{false};
    std::atomic<pid_t> thread_number{0};   // kernel id of the current thread of this worker
    DeviceProcessor* processor = nullptr;  // runs its bodies; null: its own thread does
    std::vector<Chore*> chores;            // run between two tasks
    std::atomic<bool> in_span{false};      // part of another task's team: spinning is useless
    std::vector<unsigned> team_units;      // as leader: processing units of the team, until the task ends
  };

  void run(std::size_t index);
  void start_thread(std::size_t index);
  /// A body of the program ended the worker's thread: starts another for the same worker.
  void replace_thread(std::size_t index) noexcept;
  void bind(std::size_t worker);
  /// The unit to which the worker is bound; empty: no binding.
  std::span<const unsigned> unit_of(std::size_t worker) const;
  void run_task(Worker& worker, Task& task, engine::EngineClient& reporter);
  static void run_span(const Worker& worker, const Implementation& implementation, TaskContext& context);
  bool work_once(std::size_t index, engine::EngineClient& reporter);
  bool run_fast_path(std::size_t index, engine::EngineClient& reporter);
  bool request_more_tasks(std::size_t index, engine::EngineClient& reporter);
  void run_fast_path_body(std::size_t index, Task& task);
  void leave_fast_path(std::size_t index, engine::EngineClient& reporter);
  template <class Stop>
  void wait_for_work(std::size_t index, engine::EngineClient& reporter, Stop&& stop);
  static Chore* chore_of(const Worker& worker) noexcept;
  bool needs_network_poller() const noexcept {
    return lookout_ != nullptr && lookout_->is_active() && !lookout_->application_only() &&
           watcher_.load() == no_watcher;
  }
  bool polls_network(std::size_t index) const noexcept {
    return lookout_ != nullptr && lookout_->is_active() && (index == 0 || !lookout_->application_only());
  }
  void wake_one_of(std::size_t first_workers) noexcept;
  void wake_all() noexcept;
  void wait_until_nothing_runs() noexcept;

  const WorkersSettings settings_;
  const std::function<void()> nothing_runs_;
  const FastClock clock_;
  engine::Engine* engine_ = nullptr;
  engine::RunnableWorld* world_ = nullptr;
  engine::EngineClient* application_ = nullptr;
  const Addresses* addresses_ = nullptr;
  Poller* lookout_ = nullptr;
  std::vector<std::unique_ptr<Worker>> workers_;
  std::optional<CoreTime> application_before_;  // of the application's thread at the start of the runtime
  alignas(64) std::atomic<int> idle_{0};        // workers that look for work
  static constexpr int no_watcher = -1;
  std::atomic<int> watcher_{no_watcher};  // the idle core worker that polls the network continuously
  // Idle workers that sleep. On a cache line of its own, since every thread that adds a task reads it.
  alignas(64) std::atomic<int> asleep_{0};
  alignas(64) std::atomic<bool> ending_{false};
  std::mutex threads_mutex_;                // guards Worker::thread and the field below
  std::vector<std::thread> ended_threads_;  // threads that bodies ended
  std::atomic<int> running_{0};             // worker threads that have not left run()
};

}  // namespace fairlead::backend
