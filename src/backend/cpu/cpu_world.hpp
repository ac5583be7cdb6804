// The real world: threads bound to cores that run tasks, the application's thread among them whenever it
// waits, and threads that move tiles between RAM and the disk. An idle worker looks around for some
// microseconds, then sleeps; it is woken only if there is work for it.
#pragma once
#include <array>
#include <atomic>
#include <chrono>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "backend/cpu/mailbox.hpp"
#include "backend/cpu/sleeper.hpp"
#include "backend/disk/io_threads.hpp"
#include "base/fast_clock.hpp"
#include "engine/runtime_core.hpp"

namespace fairlead::backend {

struct CpuOptions {
  std::size_t workers = 1;           ///< the application's thread included
  std::vector<unsigned> processors;  ///< one per worker to bind to; empty: wherever the system puts them
  Duration spin{50'000};             ///< how long an idle worker looks around before it sleeps
  std::byte* arena = nullptr;        ///< the bytes of the node RAM
  int spill_descriptor = -1;         ///< where the node disk keeps its data; -1: there is none
  IoThreads::Settings disk;
};

class CpuWorld final : public engine::DrivenWorld {
 public:
  explicit CpuWorld(CpuOptions options);
  ~CpuWorld() override;

  void begin(engine::Engine& engine, graph::Graph& graph, engine::Reporter& application) override;
  void end() override;
  void help(const std::function<bool()>& done) override;
  bool must_be_told() const noexcept override { return asleep_.load() > 0; }
  void nudge() noexcept override;
  void hurry() noexcept override;
  Time now() noexcept override { return clock_.now(); }
  std::size_t reporters() const noexcept override { return options_.workers + 2; }

  void launch(WorkerId worker, Task& task) override;
  void recall(WorkerId worker, Task& task) override;
  void start(memory::Copy& copy) override;
  void launched(WorkerId worker) override { workers_[index(worker)]->sleeper.wake_if_asleep(); }
  void stopped() override { nudge(); }

  /// Ends a task whose body had returned before it was over. Any thread, once per task.
  void end_asynchronous(Task& task, std::exception_ptr failure);
  IoCounters disk_counters() const { return disk_ ? disk_->counters() : IoCounters{}; }
  /// Bytes that the disk has moved for tasks so far; for progress displays, any thread.
  Bytes bytes_read() const noexcept { return bytes_read_.load(std::memory_order_relaxed); }
  Bytes bytes_written() const noexcept { return bytes_written_.load(std::memory_order_relaxed); }

 private:
  struct Worker {
    Mailbox mailbox;
    Sleeper sleeper;
    std::unique_ptr<engine::Reporter> reporter;  // worker 0: none, it uses the application's
    std::thread thread;
    Event arrival;
    Event refusal;    // the engine asks one task back at a time
    Time last_end{};  // the thread's: when it last looked at the clock
    bool clock_is_fresh = false;
    Time first_unreported{};
    std::array<const CodeletInfo*, 8> tiny{};  // kinds of task whose last one here was over in no time
    std::size_t next_tiny = 0;
  };

  class BoundForNow;

  void run(std::size_t worker);
  void bind(std::size_t worker);
  bool is_tiny(const Worker& worker, const Task& task) const noexcept;
  void run_task(Worker& worker, Task& task, engine::Reporter& reporter);
  bool work_once(std::size_t worker, engine::Reporter& reporter);
  template <class Stop>
  void rest(Worker& worker, engine::Reporter& reporter, Stop&& stop);
  void disk_done(const IoResult& result);

  CpuOptions options_;
  const FastClock clock_;
  engine::Engine* engine_ = nullptr;
  engine::Reporter* application_ = nullptr;
  std::vector<std::unique_ptr<Worker>> workers_;
  alignas(64) std::atomic<int> idle_{0};  // workers that look for work
  std::atomic<int> asleep_{0};            // of these, those that do not look any more
  std::atomic<bool> ending_{false};
  std::mutex disk_mutex_;  // guards disk_reporter_: the disk's threads take turns
  std::unique_ptr<engine::Reporter> disk_reporter_;
  std::mutex asynchronous_mutex_;  // guards asynchronous_reporter_
  std::unique_ptr<engine::Reporter> asynchronous_reporter_;
  std::atomic<Bytes> bytes_read_{0}, bytes_written_{0};
  std::unique_ptr<IoThreads> disk_;  // last: its threads use all the rest
};

}  // namespace fairlead::backend
