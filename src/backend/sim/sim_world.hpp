// The simulated backend: a virtual clock, workers with given durations, links with fairly shared bandwidth, and
// random faults. The engine is the same as in a real run. The application's thread alone drives it whenever it waits,
// so a run is determined by its seed. Several worlds can share one clock.
#pragma once
#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <queue>
#include <span>
#include <vector>

#include "backend/addresses.hpp"
#include "backend/sim/memory_model.hpp"
#include "backend/sim/page_driver.hpp"
#include "backend/sim/shared_links.hpp"
#include "backend/sim/timeline.hpp"
#include "engine/runtime_core.hpp"

namespace fairlead::backend {

/// Multiplies the durations on the worker in that interval; policies and models are not notified.
struct WorkerSlowdown {
  WorkerId worker{};
  double times = 1;
  Time from{}, until = Time::max();
};

/// From this time on the worker accepts no more tasks, as soon as it has none running.
struct WorkerLoss {
  WorkerId worker{};
  Time at{};
};

/// The device is lost when `after` tasks on it and copies from or to it are about to end. Work that started there
/// ends at its usual time, mostly as failed; some of it had completed before, and is reported late.
struct DeviceLoss {
  NodeId node{};
  std::uint64_t after = 1;
};

struct SimOptions {
  std::uint64_t seed = 1;
  /// Duration of a task on a worker, before noise; divided by the number of workers if it runs on several.
  std::function<Duration(const Task&, WorkerId)> duration;
  /// Time that the worker first waits for scheduling decisions, if their cost should count; called once per task.
  std::function<Duration(WorkerId)> decision_time;
  /// The time until which other work keeps the worker from its next task. Called when the task would start, after all
  /// other events of that time, and again at the returned time. Null: never.
  std::function<Time(WorkerId)> free_from;
  std::vector<WorkerSlowdown> slow;
  std::vector<WorkerLoss> lost;
  std::vector<DeviceLoss> lost_devices;
  /// If not explicit_copies, devices access the data in user memory, so the engine makes no copies.
  MemoryModel memory_model = MemoryModel::explicit_copies;
  machine::UnifiedMemoryDescription unified_memory{};  ///< used if the memory model is managed
  std::function<bool(DatumId)> has_value;              ///< at the start; used if managed
  unsigned noise_percent = 0;            ///< durations of tasks and copies vary by up to this much in either
                                         ///< direction
  std::uint64_t copy_fails_once_in = 0;  ///< 0: never
  std::uint64_t write_back_fails_once_in = 0;
  std::uint64_t task_fails_once_in = 0;
  std::uint64_t recall_refused_once_in = 0;  ///< as if the worker had just started the task
  std::uint64_t copy_stalls_once_in = 0;     ///< a stalled copy takes a hundred times as long
  /// Reports the end of a copy together with the next event, as happens when several threads report at once.
  std::uint64_t copy_reported_late_once_in = 0;
  /// Scripted faults, in addition to random ones.
  std::function<bool(const memory::Copy&)> copy_fails;
  std::function<bool(const Task&)> task_fails;
  /// Copies and tasks that start and never end.
  std::function<bool(const memory::Copy&)> copy_hangs;
  std::function<bool(const Task&)> task_hangs;
  Timeline* timeline = nullptr;  ///< shared with other worlds, which all end before it; null: a clock of its
                                 ///< own
  const std::atomic<bool>* stop_requested = nullptr;  ///< passed to Timeline::stop_on() of its own clock
  /// beyond this number the simulation ends with an Error; 0: no limit
  std::uint64_t most_events = 0;
  bool run_bodies = false;  ///< run the bodies; otherwise tasks only take time
  /// Called when a copy starts, and when its bytes have arrived, before the engine is notified.
  std::function<void(const memory::Copy&, bool succeeded)> on_copy;
  std::function<void(const memory::Copy&)> on_copy_start;
  /// Called when a task starts and ends on the worker.
  std::function<void(Task&, WorkerId)> on_start;
  std::function<void(Task&, WorkerId, bool succeeded)> on_end;
};

class SimWorld final : public engine::RunnableWorld, private Timeline::Member {
 public:
  explicit SimWorld(SimOptions options);
  SimWorld(const SimWorld&) = delete;
  SimWorld& operator=(const SimWorld&) = delete;
  ~SimWorld() override { timeline_.leave(number_); }

  void activate(engine::Engine& engine, graph::DependencyGraph& graph,
                engine::EngineClient& application) override;
  void stop() override {}
  void wait(const std::function<bool()>& done) override;
  bool needs_wake_up() const noexcept override { return idle_workers_ > 0; }
  void process_remote_events() override { application_->serve(); }
  void process_remote_events_and_retry() override { application_->serve_blocking(); }
  /// Completes the task of an asynchronous body. A simulation without further events waits for it.
  void end_asynchronous(Task& task, std::exception_ptr failure) noexcept override;
  Time now() noexcept override { return timeline_.now(); }
  std::size_t reporters() const noexcept override { return 1; }

  void launch(WorkerId id, Task& task) override;
  void recall(WorkerId id, Task& task) override;
  void span_formed(Task& task, std::span<const WorkerId> workers) override;
  void span_released(std::span<const WorkerId> workers) override;
  void start(memory::Copy& copy) override;
  /// User memory only: other nodes have no storage.
  void* address_of(const memory::Location& at) const noexcept override { return addresses_.of(at); }
  /// Only records a stop: the single thread polls everything itself.
  void wake(engine::WakeTarget who) noexcept override {
    stopped_ |= who.kind == engine::WakeTarget::Kind::all;
  }
  bool in_body(WorkerId worker) const noexcept override { return workers_[index(worker)].running != nullptr; }
  /// Transfers bytes that are not a copy of the engine between two nodes; calls `then` at their arrival.
  void carry(Bytes bytes, NodeId from, NodeId to, std::function<void()> then);
  /// Calls `call` after this virtual time if the run has not ended. Events that it posts are processed.
  void after(Duration time, std::function<void()> call);

  std::uint64_t events() const noexcept { return events_; }
  /// When the node's memory was lost; Time::max(): not lost.
  Time lost_since(NodeId node) const { return lost_since_.empty() ? Time::max() : lost_since_[index(node)]; }

  /// Migrates the data that tasks wrote to host memory and waits until they have arrived.
  void bring_home();
  /// Null if memory is not managed.
  const PageDriver* page_driver() const noexcept { return page_driver_.get(); }
  /// Bytes that crossed the links because kernels used host memory; by link, as Memory::traffic().
  std::span<const memory::LinkTraffic> mapped_traffic() const noexcept { return mapped_traffic_; }
  /// Total time for which kernels were stalled by page faults.
  Duration stalled() const noexcept { return stalled_; }

 private:
  struct Worker {
    std::deque<Task*> staged;
    Task* running = nullptr;
    const Task* aside_for = nullptr;  // the task for which it is reserved; accepts no other
    Time started{};
    unsigned parts = 0;                       // unfinished parts of the running task: its computation, its
                                              // transfers
    Event refusal;                            // one is enough: the engine recalls one task at a time
    std::vector<const Task*> recall_refused;  // tasks whose recall was refused; they must run here
    bool leaves = false, lost = false;        // will be lost when idle; is lost
    bool waiting_for_core = false;  // waiting for `free_from` before it starts the first of `staged`
    Event loss;
  };
  struct TimedEvent {
    Time at;
    std::uint64_t order;                   // order of scheduling: breaks ties of equal times
    WorkerId worker;                       // the worker of the task that ends
    memory::Copy* copy;                    // the copy whose latency has passed; null: none
    PageDriver::Request* pages = nullptr;  // the page request whose driver time has passed; null: none
    bool loss = false;                     // the worker's loss
    bool kept = false;                     // check whether the worker is free now
    const std::function<void()>* call = nullptr;
    bool operator>(const TimedEvent& other) const noexcept {
      return at != other.at ? at > other.at : order > other.order;
    }
  };

  Time next() const noexcept override;
  bool step() override;
  bool apply_signalled();
  Duration with_noise(Duration duration);
  Duration slowed(WorkerId worker, Duration alone) const;
  /// The links of the simulation: two per link of the machine (away from home, back; if not duplex only the first is
  /// used), two per bus, one per processor shared by several workers, one per worker.
  SharedLinks make_wires();
  void cross(const RouteStep& leg, std::vector<SharedLinks::Crossing>& out) const;
  void start_next(WorkerId id);
  void start_when_free(WorkerId id);
  void may_be_free(WorkerId id);
  void lose_if_free(WorkerId id);
  void count_completion(NodeId node);
  void lose(NodeId node);
  bool is_on_lost_device(WorkerId worker) const;
  bool fails_by_loss(NodeId node, Time begun);
  std::exception_ptr loss_of(NodeId node) const;
  void compute(WorkerId id);
  void use_mapped(const Task& task, WorkerId id);
  void part_completed(WorkerId id);
  std::unique_ptr<PageDriver> make_page_driver();
  const SharedProcessors& shared() const;
  bool shares_processor(WorkerId id) const;
  void begin(memory::Copy& copy);
  void copy_ends(memory::Copy& copy);
  void transfer_completed(const SharedLinks::End& end);
  void task_ends(WorkerId id);
  bool run_body(Task& task, WorkerId id);
  void schedule(TimedEvent happening);

  SimOptions options_;
  Random random_;
  bool reported_late_ = false;  // the end of a copy has not been reported yet
  Addresses addresses_;         // of no node: no node has storage
  engine::Engine* engine_ = nullptr;
  engine::EngineClient* application_ = nullptr;
  Timeline own_timeline_;
  Timeline& timeline_;
  const std::uint32_t number_;  // its number in the timeline
  std::vector<Worker> workers_;
  std::vector<Event> arrivals_;
  std::deque<NodeLoss> losses_;
  std::vector<Time> lost_since_;     // by node; empty: no losses are configured
  std::vector<std::uint64_t> ends_;  // of tasks and copies, by node; empty: no losses are configured
  SharedLinks wires_{{}};            // see make_wires()
  struct InFlight {
    memory::Copy* copy = nullptr;
    WorkerId worker{};                     // if not a copy: the worker whose task computes or accesses mapped
                                           // memory
    PageDriver::Request* pages = nullptr;  // the page request, if neither copy nor worker
    std::function<void()> then{};          // the caller's, for carry()
  };
  void put_on_wires(Bytes amount, std::span<const SharedLinks::Crossing> crossed, InFlight what);
  std::vector<InFlight> on_wires_;  // by CopyNumber
  SharedLinks::LinkIndex first_processor_ = 0, first_worker_ = 0;
  std::priority_queue<TimedEvent, std::vector<TimedEvent>, std::greater<>> future_;
  std::deque<std::function<void()>> calls_;  // never shrinks: there are few
  std::uint64_t scheduled_ = 0, events_ = 0;
  std::size_t idle_workers_ = 0;
  bool stopped_ = false;
  struct Signalled {
    Task* task;
    std::exception_ptr failure;
  };
  std::size_t asynchronous_ = 0;  // tasks whose bodies have returned but which have not completed
  std::mutex signalled_mutex_;    // guards signalled_: any thread may report a completion
  std::condition_variable signal_came_;
  std::vector<Signalled> signalled_;
  std::atomic<bool> any_signalled_{false};
  std::unique_ptr<PageDriver> page_driver_;
  std::vector<memory::LinkTraffic> mapped_traffic_;
  Duration stalled_{};
};

}  // namespace fairlead::backend
