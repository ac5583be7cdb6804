// Workers as threads: each runs what is staged for it, tasks of the direct lane, and chores, and tells the
// engine in batches what is over. The application's thread is one of them whenever it waits. Who has nothing
// to do looks around for some microseconds, then sleeps, and is woken only if there is work for him.
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
#include "backend/cpu/restraint.hpp"
#include "backend/cpu/sleeper.hpp"
#include "backend/cpu/tiny_kinds.hpp"
#include "base/core_time.hpp"
#include "base/fast_clock.hpp"
#include "engine/runtime_core.hpp"

namespace fairlead::backend {

struct WorkersSettings {
  std::size_t cores = 1;   ///< cores' workers, the application's thread included
  std::size_t others = 0;  ///< they come after those
  std::vector<unsigned>
      processors;         ///< one per core's worker to bind to; empty: wherever the system puts them
  Duration spin{50'000};  ///< how long an idle worker looks around before it sleeps
};

class WorkerThreads {
 public:
  /// `nothing_runs`: the run was stopped, and no body is under way any more; called by the application's
  /// thread.
  WorkerThreads(WorkersSettings settings, std::function<void()> nothing_runs);
  ~WorkerThreads();

  /// No thread is started before begin(), so that chores can be given.
  void prepare(engine::Engine& engine, engine::DrivenWorld& world, graph::Graph& graph,
               engine::Reporter& application, const Addresses& addresses);
  void give(WorkerId worker, Chore& chore) { workers_[index(worker)]->chores.push_back(&chore); }
  void watch(Lookout& lookout) { lookout_ = &lookout; }
  void run_by(WorkerId worker, Processor& processor) { workers_[index(worker)]->processor = &processor; }
  /// Throws SystemError if the system gives no thread.
  void begin();
  /// Threads end; chores are done by nobody any more.
  void end();
  /// The engine goes.
  void forget() noexcept;

  /// What a thread does that has nothing to do.
  enum class Idle : std::uint8_t {
    rests,   // it waits for more
    leaves,  // it goes back to the program
  };
  /// As in DrivenWorld, help() and work_off().
  void help(const std::function<bool()>& done, Idle when_idle);
  bool must_be_told() const noexcept { return asleep_.load() > 0; }
  void launch(WorkerId id, Task& task);
  void recall(WorkerId id, Task& task);
  void gathered(Task& task, std::span<const WorkerId> workers);
  void dissolved(std::span<const WorkerId> workers);
  void wake(engine::Who who) noexcept;
  /// Its workers begin nothing any more; the engine asks for what they were given. Any thread.
  void lose(NodeId node) noexcept;
  bool in_body(WorkerId worker) const noexcept {
    return workers_[index(worker)]->in_body.load(std::memory_order_relaxed);
  }
  /// Of the worker's thread since begin(). Any thread.
  std::optional<CoreTime> core_time(WorkerId worker) const;
  bool ending() const noexcept { return ending_.load(); }
  std::size_t count() const noexcept { return workers_.size(); }
  Time now() const noexcept { return clock_.now(); }

 private:
  struct Worker {
    Mailbox mailbox;
    Sleeper sleeper;
    std::unique_ptr<engine::Reporter> reporter;  // worker 0: none, it uses the application's
    std::thread thread;
    Event arrival;
    Event refusal;     // the engine asks one task back at a time
    Time last_end{};   // the thread's: when it last looked at the clock
    Time next_look{};  // the thread's: at what others send
    bool clock_is_fresh = false;
    std::atomic<bool> in_body{false};  // written by the thread, for those who ask what it does
    Time first_unreported{};
    TinyKinds tiny;
    Restraint restraint;
    WorkerKind kind = WorkerKind::cpu;
    std::atomic<bool> lost{false};
    std::atomic<pid_t> thread_number{0};  // the kernel's, of the thread that is this worker now
    Processor* processor = nullptr;       // runs its bodies; null: its thread does
    std::vector<Chore*> chores;           // between two tasks
    std::atomic<bool> aside{false};       // for a task of several workers: not worth looking around
    std::vector<unsigned> team_units;     // where such a task may run that this worker leads; until its end
  };

  void run(std::size_t index);
  void start_thread(std::size_t index);
  /// The worker's thread ends, by a body of the program: another one goes on as that worker.
  void replace_thread(std::size_t index) noexcept;
  void bind(std::size_t worker);
  /// Where it is bound to; none if threads are not.
  std::span<const unsigned> unit_of(std::size_t worker) const;
  void run_task(Worker& worker, Task& task, engine::Reporter& reporter);
  static void run_together(const Worker& worker, const Implementation& implementation, TaskContext& context);
  bool work_once(std::size_t index, engine::Reporter& reporter);
  bool work_in_lane(std::size_t index, engine::Reporter& reporter);
  bool ask_for_more(std::size_t index, engine::Reporter& reporter);
  void run_body_in_lane(std::size_t index, Task& task);
  void leave_lane(std::size_t index, engine::Reporter& reporter);
  template <class Stop>
  void rest(std::size_t index, engine::Reporter& reporter, Stop&& stop);
  static Chore* chore_of(const Worker& worker) noexcept;
  bool nobody_watches() const noexcept {
    return lookout_ != nullptr && lookout_->wanted() && !lookout_->by_application() &&
           watcher_.load() == nobody;
  }
  bool looks_out(std::size_t index) const noexcept {
    return lookout_ != nullptr && lookout_->wanted() && (index == 0 || !lookout_->by_application());
  }
  void wake_one_of(std::size_t first_workers) noexcept;
  void wake_all() noexcept;
  void wait_until_nothing_runs() noexcept;

  const WorkersSettings settings_;
  const std::function<void()> nothing_runs_;
  const FastClock clock_;
  engine::Engine* engine_ = nullptr;
  engine::DrivenWorld* world_ = nullptr;
  engine::Reporter* application_ = nullptr;
  const Addresses* addresses_ = nullptr;
  Lookout* lookout_ = nullptr;
  std::vector<std::unique_ptr<Worker>> workers_;
  std::optional<CoreTime> application_before_;  // of the application's thread when the runtime began
  alignas(64) std::atomic<int> idle_{0};        // workers that look for work
  static constexpr int nobody = -1;
  std::atomic<int> watcher_{nobody};  // the idle core that looks out all the time
  // Of these, those that do not look any more. On a cache line of its own: whoever brings a task reads it.
  alignas(64) std::atomic<int> asleep_{0};
  alignas(64) std::atomic<bool> ending_{false};
  std::mutex threads_mutex_;                // guards Worker::thread and what follows
  std::vector<std::thread> ended_threads_;  // that bodies ended
  std::atomic<int> running_{0};             // threads of workers that have not left run()
};

}  // namespace fairlead::backend
