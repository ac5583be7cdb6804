// The real world: workers that are threads (worker_threads.hpp), and whatever carries copies between memories
// (copies.hpp), on the machine that its parts make.
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
#include "backend/copies.hpp"
#include "backend/cpu/worker_threads.hpp"
#include "engine/inbox.hpp"
#include "engine/runtime_core.hpp"

namespace fairlead::backend {

struct CpuOptions {
  WorkersSettings workers{};
  std::byte* arena = nullptr;                     ///< the bytes of the host's node
  TransitBuffers transit{};                       ///< for copies that pass it
  std::vector<std::unique_ptr<Part>> parts{};     ///< of the machine, beside the cores
  Surroundings surroundings{};                    ///< for these
  std::function<std::string(DatumId)> name_of{};  ///< of a datum, for messages; any thread
};

class CpuWorld final : public engine::DrivenWorld, private Site {
 public:
  explicit CpuWorld(CpuOptions options);
  ~CpuWorld() override;

  void begin(engine::Engine& engine, graph::Graph& graph, engine::Reporter& application) override;
  void end() override;
  void help(const std::function<bool()>& done) override { workers_.help(done, WorkerThreads::Idle::rests); }
  void work_off(const std::function<bool()>& enough) override {
    workers_.help(enough, WorkerThreads::Idle::leaves);
  }
  bool must_be_told() const noexcept override { return workers_.must_be_told(); }
  void hurry() noexcept override {
    if (copies_) copies_->hurry();
  }
  void serve_for_others() override;
  void serve_surely_for_others() override;
  void end_asynchronous(Task& task, std::exception_ptr failure) noexcept override;
  std::optional<CoreTime> core_time_of_worker(WorkerId worker) const override {
    return workers_.core_time(worker);
  }
  Time now() noexcept override { return workers_.now(); }
  std::size_t reporters() const noexcept override { return workers_.count() + 2; }

  void launch(WorkerId worker, Task& task) override { workers_.launch(worker, task); }
  void recall(WorkerId worker, Task& task) override { workers_.recall(worker, task); }
  void gathered(Task& task, std::span<const WorkerId> workers) override { workers_.gathered(task, workers); }
  void dissolved(std::span<const WorkerId> workers) override { workers_.dissolved(workers); }
  void start(memory::Copy& copy) override;
  void* address_of(const memory::Location& at) const noexcept override { return addresses_.of(at); }
  DeviceMemory* device_memory(NodeId node) const noexcept override { return device_memories_[index(node)]; }
  void wake(engine::Who who) noexcept override { workers_.wake(who); }
  bool in_body(WorkerId worker) const noexcept override { return workers_.in_body(worker); }

  /// So many of the process are its own.
  std::size_t threads() const noexcept { return workers_.count() - 1 + copies_->threads(); }

 private:
  const Topology& topology() const noexcept override { return engine_->memory().topology(); }
  const Surroundings& surroundings() const noexcept override { return options_.surroundings; }
  void memory_of(NodeId node, void* begin) override { addresses_.map(node, begin); }
  void lands_in(NodeId node, DeviceMemory& memory) override { device_memories_[index(node)] = &memory; }
  void carry(LinkId link, Carrier& carrier) override { copies_->carry(link, carrier); }
  void give(WorkerId worker, Chore& chore) override { workers_.give(worker, chore); }
  void watch(Lookout& lookout) override { workers_.watch(lookout); }
  void run_by(WorkerId worker, Processor& processor) override { workers_.run_by(worker, processor); }
  std::string name_of(DatumId datum) const override { return options_.name_of(datum); }
  void lose(NodeId device, std::string words) override;
  void stop_run(std::exception_ptr why) noexcept override { engine_->stop(std::move(why)); }
  bool something_is_left() const noexcept;
  void serve_what_is_left() noexcept;

  struct Visit {
    explicit Visit(std::atomic<int>& visitors) noexcept : count(visitors) { count.fetch_add(1); }
    Visit(const Visit&) = delete;
    Visit& operator=(const Visit&) = delete;
    ~Visit() { count.fetch_sub(1); }
    std::atomic<int>& count;
  };
  const CpuOptions options_;
  Addresses addresses_;
  std::vector<DeviceMemory*> device_memories_;  // by node; null: nothing lands there
  WorkerThreads workers_;
  engine::Engine* engine_ = nullptr;
  std::atomic<int> visitors_{0};  // threads of the program in what follows
  // What threads leave that have no reporter of their own. One at a time tells of all of it, and nobody waits for
  // him: he may run the program's code, which leaves more.
  engine::Inbox ended_;  // asynchronous tasks that are over
  std::atomic<bool> to_serve_surely_{false};
  std::atomic<std::thread::id> serves_{};  // who is at it, and has the reporter
  std::unique_ptr<engine::Reporter> asynchronous_reporter_;
  std::unique_ptr<Copies> copies_;
  std::mutex losses_mutex_;     // guards losses_
  std::list<NodeLoss> losses_;  // that were told of: the engine's events
};

}  // namespace fairlead::backend
