// One runtime: the graph, the engine, the data that are registered, and the backend that carries commands
// out. The public Runtime, the simulations and the tests are thin layers over this.
#pragma once
#include <fairlead/error.hpp>

#include <atomic>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <new>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include "base/process_mark.hpp"
#include "engine/datum_names.hpp"
#include "engine/engine.hpp"
#include "engine/hold_book.hpp"
#include "engine/reduction_book.hpp"
#include "engine/reporter.hpp"
#include "graph/graph.hpp"

namespace fairlead::front {
class FlowRecorder;
}  // namespace fairlead::front

namespace fairlead::engine {

/// A backend together with the application's thread: what it does when it has to wait.
class DrivenWorld : public World {
 public:
  /// Called once, when the engine exists. `first_reporter`: the application's own.
  virtual void begin(Engine& engine, graph::Graph& graph, Reporter& application) = 0;
  /// No more commands come; threads end. Called before the engine is destroyed.
  virtual void end() = 0;
  /// The application's thread works (or sleeps) until `done()`; it is called often and must be cheap.
  virtual void help(const std::function<bool()>& done) = 0;
  /// Nobody looks at the inbox by himself now: whoever posts has to serve.
  virtual bool must_be_told() const noexcept = 0;
  /// The application may have to look at its condition again. Called by any thread.
  virtual void nudge() noexcept = 0;
  void look_again() noexcept override { nudge(); }
  /// Serves what a thread has posted that has no reporter of its own.
  virtual void serve_for_others() = 0;
  /// Lets the engine look again at what waits, although nothing was posted. Any thread, also in callbacks.
  virtual void serve_surely_for_others() = 0;
  /// The program wants to end soon: what only slows down may be left out. Called by any thread.
  virtual void hurry() noexcept {}
  virtual Time now() noexcept = 0;
  /// Threads that report, the application's included.
  virtual std::size_t reporters() const noexcept = 0;
};

/// How far a source of tasks is. Lives as long as the runtime, since the thread that counts the last task may
/// still look at it when the source is gone; by then it may be another's, whom that wakes for nothing. What
/// the application's thread completes has a count of its own: that thread is awake then, so that no locked
/// instruction is needed.
class Progress {
 public:
  std::uint64_t done() const noexcept { return by_others_.load() + by_application_.load(); }

  void count_by_application(std::uint64_t tasks) noexcept {
    // release: whoever sees the count sees what the tasks did. One writer.
    by_application_.store(by_application_.load(std::memory_order_relaxed) + tasks, std::memory_order_release);
  }
  /// True if the application may be waiting for this: then it has to be nudged. Any other thread.
  /// Sequentially consistent, like what reached() does: either we see what it has told, or it sees the count.
  bool count(std::uint64_t tasks) noexcept {
    return by_others_.fetch_add(tasks) + tasks + told_.load() >= target_.load();
  }

  // ---- the application's thread's

  /// For the next source: all tasks of the last one are counted.
  void begin_again() noexcept {
    by_others_.store(0);
    told_.store(0);
    by_application_.store(0);
  }
  /// From now on threads nudge when so many are done.
  void set_target(std::uint64_t tasks) noexcept { target_.store(tasks); }
  void no_target() noexcept { target_.store(~std::uint64_t{0}); }
  /// The same as `done() >= tasks`; to be asked before going to sleep, so that others know how many they
  /// lack.
  bool reached(std::uint64_t tasks) noexcept {
    const std::uint64_t own = by_application_.load(std::memory_order_relaxed);
    if (told_.load(std::memory_order_relaxed) != own) told_.store(own);
    return by_others_.load() + own >= tasks;
  }

 private:
  alignas(64) std::atomic<std::uint64_t> by_others_{0};
  std::atomic<std::uint64_t> target_{~std::uint64_t{0}};
  std::atomic<std::uint64_t> told_{0};  // by_application_, when others last had to know it
  alignas(64) std::atomic<std::uint64_t> by_application_{0};
};

struct CoreOptions {
  Topology topology;
  std::unique_ptr<Policy> policy;
  Options engine;
  bool fixed_order = false;  ///< commutative tasks and reductions run in the order of the program
  std::size_t window = 0;    ///< unfinished tasks at most; 0: 2,048, or what the policy wishes
  bool refresh = true;       ///< waits bring the program's own memory up to date
};

class RuntimeCore {
 public:
  RuntimeCore(CoreOptions options, DrivenWorld& world);
  ~RuntimeCore();
  RuntimeCore(const RuntimeCore&) = delete;
  RuntimeCore& operator=(const RuntimeCore&) = delete;

  Engine& engine() noexcept { return engine_; }
  const Engine& engine() const noexcept { return engine_; }
  graph::Graph& graph() noexcept { return graph_; }
  DrivenWorld& world() noexcept { return world_; }
  Reporter& application() noexcept { return application_; }
  const Topology& topology() const noexcept { return engine_.memory().topology(); }
  std::size_t window() const noexcept { return window_; }
  /// The capacity of the smallest cache: what fits there fits everywhere.
  Bytes smallest_cache() const noexcept { return smallest_cache_; }
  /// Bit k: there is a worker of WorkerKind k.
  std::uint32_t kinds_of_workers() const noexcept { return kinds_of_workers_; }
  /// Memory nodes of accelerators, as wishes count them.
  int devices() const noexcept { return devices_; }
  std::string devices_text() const;  ///< "are 2, counted from 0"
  /// Before the first task only. The window grows to what the policy wishes.
  void replace_policy(std::unique_ptr<Policy> policy, std::string name);
  std::uint32_t next_source_id() noexcept { return sources_++; }
  Progress& new_progress();
  /// All tasks of its source are counted, and the source is gone.
  void give_back(Progress& progress) noexcept;
  /// Works until no source has unfinished tasks, and no callback is to be called. False if that would never
  /// be: the rest waits for what the application holds.
  bool help_until_all_done(bool ending);
  bool all_over() const noexcept;
  /// Commutative tasks and reductions run in the order of the program.
  bool fixed_order() const noexcept { return fixed_order_; }
  DatumNames& names() noexcept { return names_; }
  const DatumNames& names() const noexcept { return names_; }
  HoldBook& holds() noexcept { return holds_; }
  ReductionBook& reductions() noexcept { return reductions_; }
  /// The kinds of workers beside the application's memory node, as bits.
  std::uint32_t host_kinds() const noexcept { return host_kinds_; }
  std::uint64_t submitted = 0;  ///< by all sources; the application's thread counts
  /// How often a datum was removed, split or reduced for the first time; the application's.
  std::uint64_t data_changes = 0;

  /// Throws UsageError if called by another thread than the one that made the runtime, in a body, after a
  /// fork, or after close().
  void check_caller(const char* what) const;
  /// Throws UsageError after a fork: for what any thread may do.
  void check_process(const char* what) const;
  /// Whether the caller is the application's thread outside of bodies: what waits has to be.
  bool may_help() const noexcept;
  bool same_process() const noexcept { return process_.same_process(); }
  /// The runtime is gone for the program: works until all tasks are over, if it may; nothing is accepted any
  /// more.
  void close() noexcept;
  /// `name` and `owner` are set, if it has a name.
  void register_datum(RegisteredDatum& datum, const memory::DatumSpec& spec);
  /// The datum should live on that accelerator; no_device: anywhere. Throws UsageError if there is no such.
  void advise(const RegisteredDatum& datum, int device);
  /// The datum must not be used by unfinished tasks.
  void remove_datum(RegisteredDatum& datum);
  /// The application's thread works until `done` or until the run was stopped. False if it ended because
  /// nothing can happen any more before the application releases what it holds.
  /// That takes that no other thread of the program is there, which might release it; `ending`: they are not
  /// waited for.
  bool help(const std::function<bool()>& done, bool ending = false);
  /// The same; throws what stopped the run, if something did, and UsageError naming the hold if it would
  /// never end.
  void help_until(const std::function<bool()>& done, const char* what = "wait");
  [[noreturn]] void throw_held_up(const char* what) const;
  /// Sends all results home and waits until they are there.
  void flush();
  /// Brings the newest values of data in the program's own memory there, and waits until they are: of these,
  /// or of all whose refresh is not put off. Values that a task is changing now are not waited for. Nothing
  /// happens where all workers use them in place.
  void refresh(std::vector<DatumId> data);
  void refresh(bool put_off_too = false);
  /// Whether refresh() may have anything to do: workers without access to the program's memory change data in
  /// memory of their own.
  bool refreshes() const noexcept { return refreshes_; }
  void put_refresh_off(const RegisteredDatum& datum, bool put_off);
  /// The program wants to end soon, and needs no results: nothing waits for a bandwidth cap any more, and a
  /// flush, now or later, stops the run and throws. Any thread.
  void wind_down() noexcept;
  /// Throws after that: for what would take long, and nobody wants any more.
  void throw_if_winding_down() const;
  /// Empties the caches of all that nobody uses and that its home holds as well.
  void drop_clean();
  /// Throws if the run was stopped: a write-back failed, or something inside did.
  void throw_if_stopped();
  /// Keeps what unfinished tasks still need until no thread runs any more. Any thread; in a forked child, or
  /// without memory to note it, for good.
  void keep(std::shared_ptr<void> something) noexcept;
  /// What to do so that tasks find so much on the node, for errors.
  std::string more_memory(NodeId node, Bytes needed) const;
  /// A thread of the program may have ended: who waits for what it might have released looks again. Any
  /// thread.
  void look_again_at_holds() noexcept {
    if (waits_for_others_.load()) world_.nudge();
  }
  /// Threads of the program besides its waiting one and the runtime's own are there. Unset: none is.
  std::function<bool()> others_are_there;
  /// The limit by which the host's node would hold so much. Unset: just that.
  std::function<Bytes(Bytes)> limit_for;
  /// Tells people what nobody is there to be thrown. Unset: it is lost.
  std::function<void(const std::string&)> say;
  template <class T>
  void keep(std::unique_ptr<T> something) noexcept {
    try {
      keep(std::shared_ptr<void>(std::move(something)));  // leaves it alone if it throws
    } catch (const std::bad_alloc&) {
      static_cast<void>(something.release());
    }
  }
  /// Runs f, which inserts something for the program. Without memory for all of it the run is stopped.
  template <class F>
  decltype(auto) or_stop(F&& f) {
    try {
      return f();
    } catch (const std::bad_alloc&) {
      engine_.stop(std::current_exception());
      throw;
    }
  }
  /// Writes down what is submitted; null: nobody wants that.
  front::FlowRecorder* flow_recorder = nullptr;

 private:
  DrivenWorld& world_;
  std::size_t window_;
  Bytes smallest_cache_ = ~Bytes{0};
  std::uint32_t kinds_of_workers_ = 0;
  int devices_ = 0;
  graph::Graph graph_;
  DatumNames names_;
  Engine engine_;
  Reporter application_;
  HoldBook holds_{*this};
  ReductionBook reductions_{*this};
  std::uint32_t host_kinds_ = 0;
  const bool fixed_order_;
  bool helping_ = false;  // the application's thread runs bodies
  std::atomic<bool> closed_{false}, winding_down_{false};
  std::atomic<bool> waits_for_others_{false};  // to release something
  std::uint32_t sources_ = 0;
  std::deque<Progress> progress_;
  std::vector<Progress*> free_progress_;  // has space for all
  std::uint64_t done_by_former_ = 0;      // by sources whose progress was given back
  std::thread::id owner_ = std::this_thread::get_id();
  ProcessMark process_;
  Event flush_event_;
  RefreshRequest refresh_event_;
  bool refreshes_ = false;
  std::mutex kept_mutex_;  // guards kept_
  std::vector<std::shared_ptr<void>> kept_;
};

}  // namespace fairlead::engine
