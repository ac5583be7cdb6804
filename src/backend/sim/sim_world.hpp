// The simulated world: a virtual clock, workers that take as long as they are told, links whose copies share
// their bandwidth fairly, and faults by seed. The same engine decides as in a real run. One thread, the
// application's, drives it whenever it would wait; a run is its seed. Several worlds may share one clock.
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
#include "backend/sim/shared_wires.hpp"
#include "backend/sim/timeline.hpp"
#include "engine/runtime_core.hpp"

namespace fairlead::backend {

/// What a worker begins or goes on with in that time takes so many times as long, for a reason that nobody
/// knows beforehand.
struct WorkerSlowdown {
  WorkerId worker{};
  double times = 1;
  Time from{}, until = Time::max();
};

/// From then on, as soon as it has nothing begun, the worker takes no tasks any more.
struct WorkerLoss {
  WorkerId worker{};
  Time at{};
};

/// The device is lost when so many tasks there and copies from and to it are about to end. What has begun there ends when
/// it would have, mostly as failed; some of it was over before, and is told late.
struct DeviceLoss {
  NodeId node{};
  std::uint64_t after = 1;
};

struct SimOptions {
  std::uint64_t seed = 1;
  /// How long a task takes on a worker, before noise; on several, so many times less.
  std::function<Duration(const Task&, WorkerId)> duration;
  /// For how long the worker has to wait first, for what deciding has cost, if that is to count; asked once
  /// a task.
  std::function<Duration(WorkerId)> decision_time;
  /// Until when something else keeps the worker from its next task; asked when it would begin it, after all else that
  /// happens then, and again when that time has come. Null: nothing ever does.
  std::function<Time(WorkerId)> free_from;
  std::vector<WorkerSlowdown> slow;
  std::vector<WorkerLoss> lost;
  std::vector<DeviceLoss> lost_devices;
  /// If not explicit, devices reach the data in user memory, so that the engine copies nothing.
  MemoryModel memory_model = MemoryModel::explicit_copies;
  machine::UnifiedMemoryDescription unified_memory{};  ///< if it is managed
  std::function<bool(DatumId)> has_value;              ///< at the start; likewise
  unsigned noise_percent = 0;            ///< tasks and copies take up to this much longer or shorter
  std::uint64_t copy_fails_once_in = 0;  ///< 0: never
  std::uint64_t write_back_fails_once_in = 0;
  std::uint64_t task_fails_once_in = 0;
  std::uint64_t recall_refused_once_in = 0;  ///< as if the worker had just begun with the task
  std::uint64_t copy_stalls_once_in = 0;     ///< takes a hundred times as long
  /// The end of a copy is told together with what happens next, as where many threads tell at once.
  std::uint64_t copy_told_late_once_in = 0;
  /// Faults by script, besides those by chance.
  std::function<bool(const memory::Copy&)> copy_fails;
  std::function<bool(const Task&)> task_fails;
  /// Copies and tasks that begin and never end.
  std::function<bool(const memory::Copy&)> copy_hangs;
  std::function<bool(const Task&)> task_hangs;
  Timeline* timeline = nullptr;   ///< shared with other worlds, which all end before it; null: its own
  std::uint64_t most_events = 0;  ///< more end the simulation with an Error; 0: no limit
  bool run_bodies = false;        ///< else tasks only take time
  /// Told when the bytes of a copy have landed, before the engine hears of it.
  std::function<void(const memory::Copy&, bool succeeded)> on_copy;
  std::function<void(const memory::Copy&)> on_copy_start;
  /// Told when a task starts and ends, with the worker.
  std::function<void(Task&, WorkerId)> on_start;
  std::function<void(Task&, WorkerId, bool succeeded)> on_end;
};

class SimWorld final : public engine::DrivenWorld, private Timeline::Member {
 public:
  explicit SimWorld(SimOptions options);
  SimWorld(const SimWorld&) = delete;
  SimWorld& operator=(const SimWorld&) = delete;
  ~SimWorld() override { timeline_.leave(number_); }

  void begin(engine::Engine& engine, graph::Graph& graph, engine::Reporter& application) override;
  void end() override {}
  void help(const std::function<bool()>& done) override;
  bool must_be_told() const noexcept override { return idle_workers_ > 0; }
  void serve_for_others() override { application_->serve(); }
  void serve_surely_for_others() override { application_->serve_surely(); }
  /// Of a body that was run. A simulation in which nothing else is left to happen waits for it.
  void end_asynchronous(Task& task, std::exception_ptr failure) noexcept override;
  Time now() noexcept override { return timeline_.now(); }
  std::size_t reporters() const noexcept override { return 1; }

  void launch(WorkerId id, Task& task) override;
  void recall(WorkerId id, Task& task) override;
  void gathered(Task& task, std::span<const WorkerId> workers) override;
  void dissolved(std::span<const WorkerId> workers) override;
  void start(memory::Copy& copy) override;
  /// The program's own memory is there, any other is not.
  void* address_of(const memory::Location& at) const noexcept override { return addresses_.of(at); }
  /// One thread does everything, and looks by itself.
  void wake(engine::Who who) noexcept override { stopped_ |= who.kind == engine::Who::Kind::everybody; }
  bool in_body(WorkerId worker) const noexcept override { return workers_[index(worker)].running != nullptr; }
  /// Bytes of somebody else cross the wires between two nodes; calls that when they are through.
  void carry(Bytes bytes, NodeId from, NodeId to, std::function<void()> then);
  /// Calls that when so much time has passed, if the run still goes on then. What it posts is served.
  void after(Duration time, std::function<void()> call);

  std::uint64_t events() const noexcept { return events_; }
  /// That its memory is gone; Time::max(): it is there.
  Time lost_since(NodeId node) const { return lost_since_.empty() ? Time::max() : lost_since_[index(node)]; }

  /// What tasks have written comes back to the host's memory, if the driver has moved it; until it is there.
  void bring_home();
  /// Null if memory is not managed.
  const PageDriver* page_driver() const noexcept { return page_driver_.get(); }
  /// Crossed the wires as kernels used it in the host's memory; by link, as Memory::traffic().
  std::span<const memory::LinkTraffic> mapped_traffic() const noexcept { return mapped_traffic_; }
  /// Kernels stood still for their pages, all in all.
  Duration stalled() const noexcept { return stalled_; }

 private:
  struct Worker {
    std::deque<Task*> staged;
    Task* running = nullptr;
    const Task* aside_for = nullptr;  // nothing else is launched here
    Time started{};
    unsigned parts = 0;                 // of what runs: computing, and what crosses the wires meanwhile
    Event refusal;                      // the engine asks one task back at a time
    std::vector<const Task*> promised;  // were asked back in vain, and are to be run here
    bool leaves = false, lost = false;  // is about to go for ever; has gone
    bool kept = false;                  // from the first of `staged`, by something else
    Event loss;
  };
  struct Happening {
    Time at;
    std::uint64_t order;                   // of scheduling: equal times happen in this order
    WorkerId worker;                       // whose task ends
    memory::Copy* copy;                    // whose first byte has arrived, if there is one
    PageDriver::Request* pages = nullptr;  // for which the driver has worked, if there is one
    bool loss = false;                     // of the worker
    bool kept = false;                     // the worker may be free now
    const std::function<void()>* call = nullptr;
    bool operator>(const Happening& other) const noexcept {
      return at != other.at ? at > other.at : order > other.order;
    }
  };

  Time next() const noexcept override;
  bool step() override;
  bool apply_signalled();
  Duration with_noise(Duration duration);
  Duration slowed(WorkerId worker, Duration alone) const;
  /// Two a link, away from home and back, of which only the first is used if it is not duplex; then two a
  /// bus; then those of processors that several workers share.
  SharedWires make_wires();
  void cross(const Leg& leg, std::vector<SharedWires::Crossing>& out) const;
  void start_next(WorkerId id);
  void start_when_free(WorkerId id);
  void may_be_free(WorkerId id);
  void lose_if_free(WorkerId id);
  void one_more_ends(NodeId node);
  void lose(NodeId node);
  bool is_on_lost_device(WorkerId worker) const;
  bool fails_by_loss(NodeId node, Time begun);
  std::exception_ptr loss_of(NodeId node) const;
  void compute(WorkerId id);
  void use_mapped(const Task& task, WorkerId id);
  void part_ends(WorkerId id);
  std::unique_ptr<PageDriver> make_page_driver();
  const SharedProcessors& shared() const;
  bool shares_processor(WorkerId id) const;
  void begin(memory::Copy& copy);
  void copy_ends(memory::Copy& copy);
  void wires_end(const SharedWires::End& end);
  void task_ends(WorkerId id);
  bool run_body(Task& task, WorkerId id);
  void schedule(Happening happening);

  SimOptions options_;
  Random random_;
  bool told_late_ = false;  // the end of a copy waits to be told
  Addresses addresses_;     // of no node: there is none in memory
  engine::Engine* engine_ = nullptr;
  engine::Reporter* application_ = nullptr;
  Timeline own_timeline_;
  Timeline& timeline_;
  const std::uint32_t number_;  // in it
  std::vector<Worker> workers_;
  std::vector<Event> arrivals_;
  std::deque<NodeLoss> losses_;
  std::vector<Time> lost_since_;     // by node; empty: none
  std::vector<std::uint64_t> ends_;  // of tasks and copies, by node; empty: nothing will be lost
  SharedWires wires_{{}};            // see wires_of()
  struct OnWires {
    memory::Copy* copy = nullptr;
    WorkerId worker{};                     // whose task computes, or uses what is mapped, if it is no copy
    PageDriver::Request* pages = nullptr;  // that the driver moves, if it is none of these
    std::function<void()> then{};          // of somebody else
  };
  void put_on_wires(Bytes amount, std::span<const SharedWires::Crossing> crossed, OnWires what);
  std::vector<OnWires> on_wires_;  // by number
  SharedWires::Wire first_processor_ = 0, first_worker_ = 0;
  std::priority_queue<Happening, std::vector<Happening>, std::greater<>> future_;
  std::deque<std::function<void()>> calls_;  // all there ever were: they are few
  std::uint64_t scheduled_ = 0, events_ = 0;
  std::size_t idle_workers_ = 0;
  bool stopped_ = false;
  struct Signalled {
    Task* task;
    std::exception_ptr failure;
  };
  std::size_t asynchronous_ = 0;  // tasks whose bodies have run, and which are not over
  std::mutex signalled_mutex_;    // guards signalled_: any thread may say that one is over
  std::condition_variable signal_came_;
  std::vector<Signalled> signalled_;
  std::atomic<bool> any_signalled_{false};
  std::unique_ptr<PageDriver> page_driver_;
  std::vector<memory::LinkTraffic> mapped_traffic_;
  Duration stalled_{};
};

}  // namespace fairlead::backend
