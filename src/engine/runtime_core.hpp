// One runtime: the graph, the engine, the data that are registered, and the backend that carries commands
// out. The public Runtime, the simulations and the tests are thin layers over this.
#pragma once
#include <fairlead/error.hpp>

#include <atomic>
#include <functional>
#include <memory>
#include <new>
#include <optional>
#include <string>

#include "base/core_time.hpp"
#include "engine/caller.hpp"
#include "engine/datum_names.hpp"
#include "engine/engine.hpp"
#include "engine/hold_book.hpp"
#include "engine/home_values.hpp"
#include "engine/kept.hpp"
#include "engine/progress.hpp"
#include "engine/reduction_book.hpp"
#include "engine/reporter.hpp"
#include "engine/submission_book.hpp"
#include "graph/graph.hpp"

namespace fairlead::engine {

/// A backend together with the application's thread: what it does when it has to wait.
class DrivenWorld : public World {
 public:
  /// Called once, when the engine exists. `first_reporter`: the application's own.
  virtual void begin(Engine& engine, graph::Graph& graph, Reporter& application) = 0;
  /// No more commands come; threads end. Called before the engine is destroyed.
  virtual void end() = 0;
  /// The application's thread works (or sleeps) until `done()`; it is called often, also after a yes, and must be cheap.
  virtual void help(const std::function<bool()>& done) = 0;
  /// The application's thread, where it is a worker, works until `enough()` or until there is nothing to do.
  virtual void work_off(const std::function<bool()>& enough) { static_cast<void>(enough); }
  /// Nobody looks at the inbox by himself now: whoever posts has to serve.
  virtual bool must_be_told() const noexcept = 0;
  /// Ends a task whose body had returned before it was over: see Completion. Any thread, once per task.
  virtual void end_asynchronous(Task& task, std::exception_ptr failure) noexcept = 0;
  /// Serves what a thread has posted that has no reporter of its own, or leaves it to who is at that: nobody waits.
  virtual void serve_for_others() = 0;
  /// As this, and the engine looks again at what waits although nothing was posted. Any thread, also in callbacks.
  virtual void serve_surely_for_others() = 0;
  /// The program wants to end soon: what only slows down may be left out. Called by any thread.
  virtual void hurry() noexcept {}
  /// Of the worker's thread since the runtime began; nothing where that is not known, as in virtual time. It
  /// reads a file: not for each task.
  virtual std::optional<CoreTime> core_time_of_worker(WorkerId) const { return {}; }
  virtual Time now() noexcept = 0;
  /// Threads that report, the application's included.
  virtual std::size_t reporters() const noexcept = 0;
};

struct CoreOptions {
  Topology topology;
  std::unique_ptr<Policy> policy;
  Options engine;
  /// Commutative tasks and reductions run in the order of the program, all tasks by the first body of their codelet.
  bool fixed_order = false;
  std::size_t window = 0;  ///< unfinished tasks at most; 0: 2,048, or what the policy wishes
  bool refresh = true;     ///< waits bring the program's own memory up to date
};

/// What only whoever made the runtime knows.
struct Surroundings {
  /// Threads of the program besides its waiting one and the runtime's own are there. Unset: none is.
  std::function<bool()> others_are_there{};
  /// The limit by which the host's node would hold so much. Unset: just that.
  std::function<Bytes(Bytes)> limit_for{};
  /// Tells people what nobody is there to be thrown. Unset: it is lost.
  std::function<void(const std::string&)> say{};
  /// What the runtime has if it is one of several that compute together; null: it computes alone.
  /// front::among_ranks() has its type.
  std::shared_ptr<void> among_ranks{};
};

/// What programs ask of a machine when they submit.
struct MachineFacts {
  MachineFacts(const Topology& topology, const EngineView& view);

  Bytes smallest_cache = ~Bytes{0};    ///< what fits there fits everywhere
  std::uint32_t kinds_of_workers = 0;  ///< bit k: there is a worker of WorkerKind k
  std::uint32_t host_kinds = 0;        ///< the same beside the application's memory node
  int devices = 0;                     ///< memory nodes of accelerators, as wishes count them
  std::string devices_text() const;    ///< "are 2, counted from 0"
};

class RuntimeCore {
 public:
  RuntimeCore(CoreOptions options, DrivenWorld& world);
  ~RuntimeCore();
  RuntimeCore(const RuntimeCore&) = delete;
  RuntimeCore& operator=(const RuntimeCore&) = delete;

  // ---- its parts

  Engine& engine() noexcept { return engine_; }
  const Engine& engine() const noexcept { return engine_; }
  graph::Graph& graph() noexcept { return graph_; }
  DrivenWorld& world() noexcept { return world_; }
  Reporter& application() noexcept { return application_; }
  const Caller& caller() const noexcept { return caller_; }
  Sources& sources() noexcept { return sources_; }
  DatumNames& names() noexcept { return names_; }
  const DatumNames& names() const noexcept { return names_; }
  HoldBook& holds() noexcept { return holds_; }
  ReductionBook& reductions() noexcept { return reductions_; }
  HomeValues& home_values() noexcept { return home_values_; }
  const MachineFacts& machine() const noexcept { return machine_; }
  const Topology& topology() const noexcept { return engine_.memory().topology(); }
  std::size_t window() const noexcept { return window_; }
  /// Commutative tasks and reductions run in the order of the program.
  bool fixed_order() const noexcept { return fixed_order_; }
  Surroundings& surroundings() noexcept { return surroundings_; }

  // ---- data

  /// `name` and `owner` are set, if it has a name.
  void register_datum(RegisteredDatum& datum, const memory::DatumSpec& spec);
  /// The datum should live on that accelerator; no_device: anywhere. Throws UsageError if there is no such.
  void advise(const RegisteredDatum& datum, int device);
  /// The datum must not be used by unfinished tasks.
  void remove_datum(RegisteredDatum& datum);
  /// How often a datum was removed, split or reduced for the first time. The application's thread.
  std::uint64_t data_changes() const noexcept { return data_changes_; }
  void note_data_change() noexcept { ++data_changes_; }

  // ---- waiting

  /// The application's thread works until `done` or until the run was stopped. False if it ended because
  /// nothing can happen any more before the application releases what it holds.
  /// That takes that no other thread of the program is there, which might release it; `ending`: they are not
  /// waited for.
  bool help(const std::function<bool()>& done, bool ending = false);
  /// The application's thread works as long as there is something for it to do, at most until `enough`.
  void work_off(const std::function<bool()>& enough) {
    const Caller::InBodies in_bodies(caller_);
    world_.work_off(enough);
  }
  /// As help(); throws what stopped the run, if something did, and UsageError naming the hold if it would
  /// never end.
  void help_until(const std::function<bool()>& done, const char* what = "wait");
  /// Works until no source has unfinished tasks, and no callback is to be called. False if that would never
  /// be: the rest waits for what the application holds.
  bool help_until_all_done(bool ending);
  [[noreturn]] void throw_held_up(const char* what) const;
  /// Before it is thrown that what was submitted is not to be gone on with: the program takes down what bodies use.
  void end_what_runs();
  /// Throws if the run was stopped: a write-back failed, or something inside did. Nothing runs then.
  void throw_if_stopped();
  [[noreturn]] void throw_why_stopped();
  /// A thread of the program may have ended: who waits for what it might have released looks again. Any
  /// thread.
  void look_again_at_holds() noexcept {
    if (waits_for_others_.load()) world_.wake(Who::application());
  }

  // ---- its end

  /// The runtime is gone for the program: works until all tasks are over, if it may; nothing is accepted any
  /// more.
  void close() noexcept;
  /// The program wants to end soon, and needs no results: nothing waits for a bandwidth cap any more, and a
  /// flush, now or later, stops the run and throws. Any thread.
  void wind_down() noexcept;
  bool winding_down() const noexcept { return winding_down_.load(); }
  /// Throws after that: for what would take long, and nobody wants any more. Nothing runs then.
  void throw_if_winding_down();
  /// Keeps what unfinished tasks still need until no thread runs any more. Any thread.
  void keep(std::shared_ptr<void> something) noexcept;
  template <class T>
  void keep(std::unique_ptr<T> something) noexcept {
    try {
      keep(std::shared_ptr<void>(std::move(something)));  // leaves it alone if it throws
    } catch (const std::bad_alloc&) {
      static_cast<void>(something.release());
    }
  }

  /// Before the first task only. The window grows to what the policy wishes.
  void replace_policy(std::unique_ptr<Policy> policy, std::string name);
  /// What to do so that tasks find so much on the node, for errors.
  std::string more_memory(NodeId node, Bytes needed) const;
  /// Runs f, which inserts something for the program. Without memory for all of it the run is stopped.
  template <class F>
  decltype(auto) or_stop(F&& f) {
    try {
      return f();
    } catch (const std::bad_alloc&) {
      engine_.stop(std::current_exception());
    }
    throw_why_stopped();
  }
  /// For callers on which others depend and that cannot throw: the run is stopped, so that all waits end.
  void out_of_memory() noexcept { engine_.stop(std::make_exception_ptr(std::bad_alloc())); }
  /// Writes down what is submitted; null: nobody wants that.
  SubmissionBook* submission_book() const noexcept { return submission_book_; }
  void write_down_in(SubmissionBook* book) noexcept { submission_book_ = book; }

 private:
  DrivenWorld& world_;
  std::size_t window_;
  const bool fixed_order_;
  graph::Graph graph_;
  DatumNames names_;
  Engine engine_;
  const MachineFacts machine_;
  Caller caller_{engine_.callbacks()};
  Reporter application_;
  Sources sources_;
  HoldBook holds_{*this};
  ReductionBook reductions_{*this};
  HomeValues home_values_;
  Surroundings surroundings_;
  std::uint64_t data_changes_ = 0;
  std::atomic<bool> winding_down_{false};
  std::atomic<bool> waits_for_others_{false};  // to release something
  SubmissionBook* submission_book_ = nullptr;
  Kept kept_;  // the last one, so that it goes first: what is kept may use all of the others
};

}  // namespace fairlead::engine
