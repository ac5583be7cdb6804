// The backend for real runs: workers are threads (worker_threads.hpp), transfer engines copy between memory nodes
// (copies.hpp), and the parts add disk and devices.
#pragma once
#include <atomic>
#include <cstddef>
#include <functional>
#include <list>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include "backend/addresses.hpp"
#include "backend/backend.hpp"
#include "backend/copy_dispatcher.hpp"
#include "backend/cpu/worker_threads.hpp"
#include "engine/inbox.hpp"
#include "engine/runtime_core.hpp"

namespace fairlead::backend {

struct CpuOptions {
  WorkersSettings workers{};
  std::byte* arena = nullptr;                             ///< memory of the host node
  StagingBuffers transit{};                               ///< staging memory for copies that pass through RAM
  std::vector<std::unique_ptr<BackendInstance>> parts{};  ///< of the machine, in addition to the cores
  BackendResources surroundings{};                        ///< passed to the parts
  std::function<std::string(DatumId)> name_of{};  ///< the name of a datum, for messages; called by any thread
};

class CpuWorld final : public engine::RunnableWorld, private BackendHost {
 public:
  explicit CpuWorld(CpuOptions options);
  ~CpuWorld() override;

  void activate(engine::Engine& engine, graph::DependencyGraph& graph,
                engine::EngineClient& application) override;
  void stop() override;
  void wait(const std::function<bool()>& done) override { workers_.help(done, WorkerThreads::Idle::wait); }
  void drain(const std::function<bool()>& enough) override {
    workers_.help(enough, WorkerThreads::Idle::leaves);
  }
  bool needs_wake_up() const noexcept override { return workers_.needs_wake_up(); }
  void skip_throttling() noexcept override {
    if (copies_) copies_->skip_throttling();
  }
  void process_remote_events() override;
  void process_remote_events_and_retry() override;
  void end_asynchronous(Task& task, std::exception_ptr failure) noexcept override;
  std::optional<CoreTime> core_time_of_worker(WorkerId worker) const override {
    return workers_.core_time(worker);
  }
  Time now() noexcept override { return workers_.now(); }
  std::size_t reporters() const noexcept override { return workers_.count() + 2; }

  void launch(WorkerId worker, Task& task) override { workers_.launch(worker, task); }
  void recall(WorkerId worker, Task& task) override { workers_.recall(worker, task); }
  void span_formed(Task& task, std::span<const WorkerId> workers) override {
    workers_.gathered(task, workers);
  }
  void span_released(std::span<const WorkerId> workers) override { workers_.span_released(workers); }
  void start(memory::Copy& copy) override;
  void* address_of(const memory::Location& at) const noexcept override { return addresses_.of(at); }
  DeviceMemory* device_memory(NodeId node) const noexcept override { return device_memories_[index(node)]; }
  void wake(engine::WakeTarget who) noexcept override { workers_.wake(who); }
  bool in_body(WorkerId worker) const noexcept override { return workers_.in_body(worker); }

  /// Threads that this backend has started.
  std::size_t threads() const noexcept { return workers_.count() - 1 + copies_->threads(); }

 private:
  const Topology& topology() const noexcept override { return engine_->memory().topology(); }
  const BackendResources& surroundings() const noexcept override { return options_.surroundings; }
  void set_memory(NodeId node, void* begin) override { addresses_.map(node, begin); }
  void set_network_target(NodeId node, DeviceMemory& memory) override {
    device_memories_[index(node)] = &memory;
  }
  void set_transfer_engine(LinkId link, TransferEngine& engine) override {
    copies_->set_engine(link, engine);
  }
  void add_chore(WorkerId worker, Chore& chore) override { workers_.give(worker, chore); }
  void set_poller(Poller& lookout) override { workers_.watch(lookout); }
  void set_processor(WorkerId worker, DeviceProcessor& processor) override {
    workers_.run_by(worker, processor);
  }
  std::string name_of(DatumId datum) const override { return options_.name_of(datum); }
  void report_device_loss(NodeId device, std::string words) override;
  void abort_run(std::exception_ptr why) noexcept override { engine_->stop(std::move(why)); }
  bool has_pending_events() const noexcept;
  void process_pending_events() noexcept;

  struct CallGuard {
    explicit CallGuard(std::atomic<int>& visitors) noexcept : count(visitors) { count.fetch_add(1); }
    CallGuard(const CallGuard&) = delete;
    CallGuard& operator=(const CallGuard&) = delete;
    ~CallGuard() { count.fetch_sub(1); }
    std::atomic<int>& count;
  };
  const CpuOptions options_;
  Addresses addresses_;
  std::vector<DeviceMemory*> device_memories_;  // by node; null: no network transfers into it
  WorkerThreads workers_;
  engine::Engine* engine_ = nullptr;
  std::atomic<int> active_callers_{0};  // threads of the program inside the functions that follow
  // Events of threads without a reporter of their own. One thread at a time serves all of them and no thread waits
  // for it, since it may run code of the program, which adds events.
  engine::Inbox ended_;  // asynchronous tasks that have completed
  std::atomic<bool> to_serve_surely_{false};
  std::atomic<std::thread::id>
      serving_thread_{};  // the thread that serves and uses the reporter; empty: none
  std::unique_ptr<engine::EngineClient> asynchronous_reporter_;
  std::unique_ptr<CopyDispatcher> copies_;
  std::mutex losses_mutex_;     // guards losses_
  std::list<NodeLoss> losses_;  // the loss events passed to the engine
};

}  // namespace fairlead::backend
