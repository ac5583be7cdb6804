// The real world: threads bound to cores that run tasks, the application's thread among them whenever it
// waits, threads that play accelerators, and threads that move tiles between RAM and the disk. An idle worker
// looks around for some microseconds, then sleeps; it is woken only if there is work for it.
#pragma once
#include <array>
#include <atomic>
#include <chrono>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "backend/cpu/mailbox.hpp"
#include "backend/cpu/sleeper.hpp"
#include "backend/cpu/tiny_kinds.hpp"
#include "backend/disk/io_threads.hpp"
#include "backend/emulated/devices.hpp"
#include "backend/generation/generations.hpp"
#include "base/fast_clock.hpp"
#include "engine/runtime_core.hpp"

namespace fairlead::backend {

/// The spill file as the world needs it.
struct Spill {
  int descriptor = -1;
  bool possible = false;  ///< there are data that could go there
  std::string place{};    ///< for messages
  /// Why there is no file (descriptor -1); null otherwise.
  std::exception_ptr missing{};
  std::function<std::string(DatumId)> name_of{};  ///< of a datum, for messages; any thread
};

struct CpuOptions {
  std::size_t workers = 1;           ///< cores' workers, the application's thread included
  std::size_t device_workers = 0;    ///< they come after those
  std::vector<unsigned> processors;  ///< one per worker to bind to; empty: wherever the system puts them
  Duration spin{50'000};             ///< how long an idle worker looks around before it sleeps
  std::byte* arena = nullptr;        ///< the bytes of the node RAM
  Spill spill{};                     ///< where the node disk keeps its data
  IoThreads::Settings disk;
  std::vector<DeviceOptions> devices{};
};

/// Why a task failed whose body ended its thread.
std::exception_ptr ended_thread();

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
  void serve_for_others() override;
  void serve_surely_for_others() override;
  Time now() noexcept override { return clock_.now(); }
  std::size_t reporters() const noexcept override { return workers_.size() + 2; }

  void launch(WorkerId worker, Task& task) override;
  void recall(WorkerId worker, Task& task) override;
  void gathered(Task& task, std::span<const WorkerId> workers) override;
  void dissolved(std::span<const WorkerId> workers) override;
  void start(memory::Copy& copy) override;
  void launched(WorkerId worker) override { workers_[index(worker)]->sleeper.wake_if_asleep(); }
  void stopped() noexcept override;
  void lane_filled() noexcept override;
  void posted_meanwhile() noexcept override { lane_filled(); }  // whoever wakes up looks at both
  bool in_body(WorkerId worker) const noexcept override {
    return workers_[index(worker)]->in_body.load(std::memory_order_relaxed);
  }

  /// So many of the process are its own.
  std::size_t threads() const noexcept {
    return workers_.size() - 1 + (disk_ ? disk_->threads() : 0) + (devices_ ? devices_->threads() : 0);
  }
  /// Ends a task whose body had returned before it was over. Any thread, once per task.
  void end_asynchronous(Task& task, std::exception_ptr failure) noexcept;
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
    std::atomic<bool> in_body{false};  // written by the thread, for those who ask what it does
    Time first_unreported{};
    TinyKinds tiny;
    bool patient = false;  // tasks were tiny of late: a few more are worth waiting for before they are stolen
    WorkerKind kind = WorkerKind::cpu;
    double speed = 1;                  // of an emulated accelerator
    std::atomic<bool> aside{false};    // for a task of several workers: not worth looking around
    std::vector<unsigned> team_units;  // where such a task may run that this worker leads; until its end
  };

  void run(std::size_t worker);
  void start_thread(std::size_t worker);
  /// The worker's thread ends, by a body of the program: another one goes on as that worker.
  void replace_thread(std::size_t worker) noexcept;
  void bind(std::size_t worker);
  /// Where it is bound to; none if threads are not.
  std::span<const unsigned> unit_of(std::size_t worker) const;
  void run_task(Worker& worker, Task& task, engine::Reporter& reporter);
  static void run_together(const Worker& worker, const Implementation& implementation, TaskContext& context);
  bool work_once(std::size_t worker, engine::Reporter& reporter);
  bool work_in_lane(std::size_t worker, engine::Reporter& reporter);
  bool ask_for_more(std::size_t worker, engine::Reporter& reporter);
  void run_body_in_lane(std::size_t worker, Task& task);
  void leave_lane(std::size_t worker, engine::Reporter& reporter);
  template <class Stop>
  void rest(std::size_t worker, engine::Reporter& reporter, Stop&& stop);
  bool has_bytes_to_move(std::size_t worker) const;
  bool has_data_to_make(std::size_t worker) const noexcept {
    return !generations_.empty() && worker < options_.workers;
  }
  void generate(const Generation& generation);
  void make_data(Worker& worker);
  void wake_for_data() noexcept;
  void wake_one_of(std::size_t first_workers) noexcept;
  void disk_done(const IoResult& result) noexcept;
  void copy_done(memory::Copy& copy, int error_number) noexcept;
  std::exception_ptr failure_of(const memory::Copy& copy, int error_number);
  void wait_until_nothing_runs() noexcept;

  CpuOptions options_;
  const FastClock clock_;
  engine::Engine* engine_ = nullptr;
  engine::Reporter* application_ = nullptr;
  std::vector<std::unique_ptr<Worker>> workers_;
  alignas(64) std::atomic<int> idle_{0};  // workers that look for work
  // Of these, those that do not look any more. On a cache line of its own: whoever brings a task reads it.
  alignas(64) std::atomic<int> asleep_{0};
  alignas(64) std::atomic<bool> ending_{false};
  std::mutex threads_mutex_;                // guards Worker::thread and what follows
  std::vector<std::thread> ended_threads_;  // that bodies ended
  std::mutex copies_mutex_;                 // guards the two below: the threads that move bytes take turns
  std::vector<Bytes> altered_;  // where bytes came back otherwise than they were written, and nobody was told
  std::unique_ptr<engine::Reporter> copies_reporter_;
  std::atomic<int> running_{0};           // threads of workers that have not left run()
  std::atomic<int> visitors_{0};          // threads of the program in end_asynchronous()
  engine::EngineLock asynchronous_lock_;  // guards asynchronous_reporter_
  std::unique_ptr<engine::Reporter> asynchronous_reporter_;
  std::atomic<Bytes> bytes_read_{0}, bytes_written_{0};
  Generations generations_;
  std::unique_ptr<Devices> devices_;
  std::unique_ptr<IoThreads> disk_;  // last: its threads use all the rest
};

}  // namespace fairlead::backend
