// One runtime: the graph, the engine, the registered data, and the backend that executes commands. The public Runtime,
// the simulations and the tests are thin layers above this class.
#pragma once
#include <fairlead/error.hpp>

#include <atomic>
#include <functional>
#include <memory>
#include <new>
#include <optional>
#include <string>

#include "base/core_time.hpp"
#include "engine/caller_check.hpp"
#include "engine/datum_names.hpp"
#include "engine/deferred_objects.hpp"
#include "engine/engine.hpp"
#include "engine/engine_client.hpp"
#include "engine/hold_registry.hpp"
#include "engine/home_values.hpp"
#include "engine/reduction_registry.hpp"
#include "engine/source_progress.hpp"
#include "engine/submission_recorder.hpp"
#include "graph/dependency_graph.hpp"

namespace fairlead::engine {

/// A backend that also defines what the application's thread does while it waits.
class RunnableWorld : public World {
 public:
  /// Called once, when the engine exists. `application`: the reporter of the application's thread.
  virtual void activate(Engine& engine, graph::DependencyGraph& graph, EngineClient& application) = 0;
  /// No more commands follow; threads end. Called before the engine is destroyed.
  virtual void stop() = 0;
  /// The application's thread works (or sleeps) until `done()` returns true. `done` is called often, also after it has
  /// returned true, and must be cheap.
  virtual void wait(const std::function<bool()>& done) = 0;
  /// The application's thread, where it is a worker, runs tasks until `enough()` or until there is no work.
  virtual void drain(const std::function<bool()>& enough) { static_cast<void>(enough); }
  /// Whether workers may sleep: then a thread that posts an event must serve it, or wake a worker.
  virtual bool needs_wake_up() const noexcept = 0;
  /// Completes an asynchronous task, whose body has returned already: see Completion. Any thread, once per task.
  virtual void end_asynchronous(Task& task, std::exception_ptr failure) noexcept = 0;
  /// Serves events posted by threads without a reporter, or leaves that to the thread that is serving. Does not wait.
  virtual void process_remote_events() = 0;
  /// As above, but the engine also tries waiting tasks again, even if nothing was posted. Any thread, also in
  /// callbacks.
  virtual void process_remote_events_and_retry() = 0;
  /// The program ends soon: disables throttling. Any thread.
  virtual void skip_throttling() noexcept {}
  /// The CPU times of the worker's thread since the runtime started; none if unknown, as in virtual time. Reads a file,
  /// so do not call it for each task.
  virtual std::optional<CoreTime> core_time_of_worker(WorkerId) const { return {}; }
  virtual Time now() noexcept = 0;
  /// The number of threads that report, including the application's.
  virtual std::size_t reporters() const noexcept = 0;
};

struct CoreOptions {
  Topology topology;
  std::unique_ptr<Policy> policy;
  Options engine;
  /// Run commutative tasks and reductions in program order, and all tasks with the first implementation of their
  /// codelet.
  bool fixed_order = false;
  std::size_t window = 0;  ///< limit of unfinished tasks; 0: 2,048, or the policy's horizon
  bool refresh = true;     ///< waits update the program's own memory
};

/// State of the front end in a runtime that is one of several ranks. The only implementation is
/// front::RankContext.
class RankState {
 public:
  virtual ~RankState() = default;
};

/// Facts and functions that only the owner of the runtime can provide.
struct HostHooks {
  /// Whether the program has threads other than the application's thread and the runtime's own. Unset: it has none.
  std::function<bool()> has_other_threads{};
  /// The memory limit at which the host's node would have this capacity. Unset: the same value.
  std::function<Bytes(Bytes)> limit_for{};
  /// Shows a message that cannot be thrown as an exception. Unset: it is lost.
  std::function<void(const std::string&)> show_message{};
  /// Null: there is one rank. front::rank_context() gives it its type.
  std::shared_ptr<RankState> rank_state{};
};

/// Facts about the machine that submission needs.
struct MachineFacts {
  MachineFacts(const Topology& topology, const EngineView& view);

  Bytes smallest_cache = ~Bytes{0};    ///< what fits there fits on all nodes
  std::uint32_t kinds_of_workers = 0;  ///< bit k: there is a worker of WorkerKind k
  std::uint32_t host_kinds = 0;        ///< the same for workers on the application's memory node
  int devices = 0;                     ///< the number of accelerators, as placement hints count them
  std::string devices_text() const;    ///< "are 2, counted from 0"
};

class RuntimeCore {
 public:
  RuntimeCore(CoreOptions options, RunnableWorld& world);
  ~RuntimeCore();
  RuntimeCore(const RuntimeCore&) = delete;
  RuntimeCore& operator=(const RuntimeCore&) = delete;

  // ---- parts

  Engine& engine() noexcept { return engine_; }
  const Engine& engine() const noexcept { return engine_; }
  graph::DependencyGraph& graph() noexcept { return graph_; }
  RunnableWorld& world() noexcept { return world_; }
  EngineClient& application() noexcept { return application_; }
  const CallerCheck& caller() const noexcept { return caller_; }
  Sources& sources() noexcept { return sources_; }
  DatumNames& names() noexcept { return names_; }
  const DatumNames& names() const noexcept { return names_; }
  HoldRegistry& holds() noexcept { return holds_; }
  ReductionRegistry& reductions() noexcept { return reductions_; }
  HomeValues& home_values() noexcept { return home_values_; }
  const MachineFacts& machine() const noexcept { return machine_; }
  const Topology& topology() const noexcept { return engine_.memory().topology(); }
  std::size_t window() const noexcept { return window_; }
  /// Whether commutative tasks and reductions run in program order.
  bool fixed_order() const noexcept { return fixed_order_; }
  HostHooks& surroundings() noexcept { return surroundings_; }

  // ---- data

  /// `name` and `owner` must be set if the datum has a name.
  void register_datum(RegisteredDatum& datum, const memory::DatumSpec& spec);
  /// The datum should reside on this accelerator; no_device: anywhere. Throws UsageError if the accelerator does not
  /// exist.
  void advise(const RegisteredDatum& datum, int device);
  /// No unfinished task may use the datum.
  void remove_datum(RegisteredDatum& datum);
  /// How often a datum was removed, split, or reduced for the first time. Used by the application's thread.
  std::uint64_t data_changes() const noexcept { return data_changes_; }
  void note_data_change() noexcept { ++data_changes_; }

  // ---- waiting

  /// The application's thread works until `done` or until the run is stopped. Returns false if nothing can happen
  /// before the application releases its holds. That is not detected while other threads of the program exist, which
  /// might release them; `ending`: ignore these.
  bool wait(const std::function<bool()>& done, bool ending = false);
  /// The application's thread works as long as there is work for it, at most until `enough`.
  void work_off(const std::function<bool()>& enough) {
    const CallerCheck::InBodies in_bodies(caller_);
    world_.drain(enough);
  }
  /// As help(), but throws the error that stopped the run, if any, and UsageError naming the hold if the wait would
  /// never end.
  void wait_until(const std::function<bool()>& done, const char* what = "wait");
  /// Works until no source has unfinished tasks and no callback is pending. Returns false if that cannot happen because
  /// the rest waits for the application's holds.
  bool wait_for_all(bool ending);
  [[noreturn]] void throw_deadlock(const char* what) const;
  /// Waits for running bodies before an exception ends the program's computation: the program then destroys what they
  /// use.
  void wait_for_running_bodies();
  /// Throws if the run was stopped, by a failed write-back or an internal error. No body runs then.
  void throw_if_stopped();
  [[noreturn]] void throw_why_stopped();
  /// A thread of the program may have ended: a thread that waits for its holds checks again. Any thread.
  void recheck_holds() noexcept {
    if (waits_for_others_.load()) world_.wake(WakeTarget::application());
  }

  // ---- end

  /// The program can no longer use the runtime. Works until all tasks are finished, if the caller may wait; nothing is
  /// accepted any more.
  void close() noexcept;
  /// The program ends soon and needs no results. The bandwidth limit is lifted, and a flush, now or later,
  /// stops the run and throws. Any thread.
  void wind_down() noexcept;
  bool winding_down() const noexcept { return winding_down_.load(); }
  /// Throws after wind_down(). For operations that take long. No body runs then.
  void throw_if_winding_down();
  /// Keeps an object that unfinished tasks still need until no thread runs tasks any more. Any thread.
  void keep(std::shared_ptr<void> something) noexcept;
  template <class T>
  void keep(std::unique_ptr<T> something) noexcept {
    try {
      keep(std::shared_ptr<void>(std::move(something)));  // does not take ownership if it throws
    } catch (const std::bad_alloc&) {
      static_cast<void>(something.release());
    }
  }

  /// Before the first task only. The window grows to the policy's horizon.
  void replace_policy(std::unique_ptr<Policy> policy, std::string name);
  /// Advice for error messages: how to give tasks this much memory on the node.
  std::string memory_advice(NodeId node, Bytes needed) const;
  /// Runs f, which inserts tasks for the program. If memory runs out half-way, the run is stopped.
  template <class F>
  decltype(auto) stop_on_out_of_memory(F&& f) {
    try {
      return f();
    } catch (const std::bad_alloc&) {
      engine_.stop(std::current_exception());
    }
    throw_why_stopped();
  }
  /// For callers that cannot throw and that others depend on: stops the run, so that all waits end.
  void out_of_memory() noexcept { engine_.stop(std::make_exception_ptr(std::bad_alloc())); }
  /// Records submissions; null: disabled.
  SubmissionRecorder* submission_book() const noexcept { return submission_book_; }
  void set_submission_recorder(SubmissionRecorder* book) noexcept { submission_book_ = book; }

 private:
  RunnableWorld& world_;
  std::size_t window_;
  const bool fixed_order_;
  graph::DependencyGraph graph_;
  DatumNames names_;
  Engine engine_;
  const MachineFacts machine_;
  CallerCheck caller_{engine_.callbacks()};
  EngineClient application_;
  Sources sources_;
  HoldRegistry holds_{*this};
  ReductionRegistry reductions_{*this};
  HomeValues home_values_;
  HostHooks surroundings_;
  std::uint64_t data_changes_ = 0;
  std::atomic<bool> winding_down_{false};
  std::atomic<bool> waits_for_others_{false};  // a thread waits for other threads to release holds
  SubmissionRecorder* submission_book_ = nullptr;
  DeferredObjects kept_;  // last, so that it is destroyed first: kept objects may use all of the others
};

}  // namespace fairlead::engine
