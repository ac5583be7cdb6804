// Registration, waiting and the checks on who calls.
#include "engine/runtime_core.hpp"
#include "base/bytes_text.hpp"
#include "base/pages.hpp"

#include <algorithm>
#include <cstring>

namespace fairlead::engine {

namespace {
constexpr std::size_t default_window = 2048, largest_window = 65536;

std::size_t window_for(const CoreOptions& options) {
  if (options.window != 0) return options.window;
  const std::size_t wished = options.policy->horizon();
  return wished == 0 ? default_window : std::min(wished, largest_window);
}

Options for_engine(Options options, std::size_t reporters) {
  options.reporters = reporters;
  options.keep_ids |= options.trace_memory != 0;  // records name data by them
  return options;
}
}  // namespace

RuntimeCore::RuntimeCore(CoreOptions options, DrivenWorld& world)
    : world_(world),
      window_(window_for(options)),
      engine_(options.topology, std::move(options.policy), world,
              for_engine(options.engine, world.reporters())),
      application_(engine_, world, graph_, 0),
      fixed_order_(options.fixed_order) {
  if (engine_.options().keep_ids) names_.keep();
  for (const NodeSpec& node : topology().nodes)
    if (node.role == NodeRole::cache)
      smallest_cache_ = std::min(smallest_cache_, whole_pages_in(node.capacity));
  for (const WorkerSpec& worker : topology().workers) {
    kinds_of_workers_ |= 1u << static_cast<unsigned>(worker.kind);
    if (worker.node == engine_.host()) host_kinds_ |= 1u << static_cast<unsigned>(worker.kind);
  }
  devices_ = static_cast<int>(accelerators(engine_).size());
  refreshes_ = options.refresh && engine_.memory().homes_may_be_old();
  if (topology().workers.size() > 1) graph_.tasks().share();
  try {
    world_.begin(engine_, graph_, application_);
  } catch (...) {
    world_.end();  // threads that were started use what goes now
    throw;
  }
}

RuntimeCore::~RuntimeCore() {
  if (!process_.same_process()) return;
  world_.end();
  if (say && !all_over() && engine_.fatal() == nullptr)
    say("the runtime ended by another thread than its maker's, which cannot wait: tasks that were not over "
        "yet "
        "were not run\n");
}

void RuntimeCore::replace_policy(std::unique_ptr<Policy> policy, std::string name) {
  window_ = std::max(window_, std::min(policy->horizon(), largest_window));
  engine_.replace_policy(std::move(policy), std::move(name));
}

void RuntimeCore::check_process(const char* what) const {
  if (!process_.same_process())
    throw UsageError(std::string(what) +
                     " was called in a forked process; a runtime belongs to the process that made it");
}

bool RuntimeCore::may_help() const noexcept {
  return process_.same_process() && std::this_thread::get_id() == owner_ && !helping_ &&
         !engine_.callbacks().running_here();
}

void RuntimeCore::close() noexcept {
  if (!process_.same_process()) return;
  closed_.store(true);
  try {
    if (!may_help()) return;
    if (help_until_all_done(true)) {
      refresh(true);
      return;
    }
    const std::string text =
        "the runtime was destroyed while tasks waited for what the program held; they were not run" +
        holds_.text();
    engine_.stop(std::make_exception_ptr(UsageError(text)));
    if (say) say(text + "\n");
  } catch (...) {
    // A run that was stopped inside has told so by wait().
  }
}

void RuntimeCore::keep(std::shared_ptr<void> something) noexcept {
  if (process_.same_process()) {
    try {
      const std::lock_guard guard(kept_mutex_);
      kept_.push_back(std::move(something));
      return;
    } catch (const std::bad_alloc&) {
      // Then for good, too.
    }
  }
  union Forever {  // nobody looks for it
    explicit Forever(std::shared_ptr<void>&& it) noexcept : kept(std::move(it)) {}
    ~Forever() {}
    std::shared_ptr<void> kept;
  };
  const Forever forever(std::move(something));
}

Progress& RuntimeCore::new_progress() {
  if (free_progress_.empty()) {
    if (free_progress_.capacity() <= progress_.size()) free_progress_.reserve(2 * progress_.size() + 8);
    return progress_.emplace_back();
  }
  Progress& progress = *free_progress_.back();
  free_progress_.pop_back();
  return progress;
}

void RuntimeCore::give_back(Progress& progress) noexcept {
  done_by_former_ += progress.done();
  progress.begin_again();
  free_progress_.push_back(&progress);
}

void RuntimeCore::check_caller(const char* what) const {
  check_process(what);
  if (closed_.load()) throw UsageError(std::string(what) + " was called after its runtime was destroyed");
  if (engine_.callbacks().running_here())
    throw UsageError(std::string(what) +
                     " was called inside a callback, which must not wait or submit: it runs between tasks");
  if (std::this_thread::get_id() != owner_)
    throw UsageError(std::string(what) +
                     " was called by another thread than the one that made the runtime: a "
                     "task's body, or a thread of the program's own");
  if (helping_)
    throw UsageError(std::string(what) + " was called inside a task's body, where it would wait for itself");
}

void RuntimeCore::register_datum(RegisteredDatum& datum, const memory::DatumSpec& spec) {
  names_.make_room();
  datum.id = engine_.add(spec);
  names_.add(datum);
  datum.bytes = spec.bytes;
  datum.home = spec.home;
  datum.runtime = this;
  const auto& nodes = topology().nodes;
  for (const NodeSpec& node : nodes)
    for (const NodeId home : node.reaches) datum.in_place |= home == spec.home;
}

std::string RuntimeCore::devices_text() const {
  return devices_ == 0 ? "are no accelerators" : "are " + std::to_string(devices_) + ", counted from 0";
}

void RuntimeCore::advise(const RegisteredDatum& datum, int device) {
  if (device != no_device && (device < 0 || device >= devices_))
    throw UsageError(datum.text() + " is to live on device " + std::to_string(device) + ", but there " +
                     devices_text());
  engine_.advise(datum.id, device);
}

void RuntimeCore::remove_datum(RegisteredDatum& datum) {
  if (datum.id == no_id<DatumId>) return;
  ++data_changes;
  application_.serve_surely();  // the ends of its tasks may not be applied yet
  const auto throw_if_failed = [this] {
    if (!engine_.stopped()) return;
    world_.help([] { return true; });  // nobody may use what the caller takes down now
    throw_if_stopped();
  };
  throw_if_failed();
  if (datum.reduction != nullptr) reductions_.forget(datum);
  if (refreshes_ && datum.in_place) refresh({datum.id});
  throw_if_failed();
  if (!engine_.try_remove(datum.id)) {
    world_.help([&] { return engine_.try_remove(datum.id); });
    throw_if_failed();
  }
  names_.remove(datum.id);
  graph_.forget(datum.tail, application_.recycler());
  datum.tail = {};
  datum.id = no_id<DatumId>;
  ++datum.generation;  // handles of it are found out
}

bool RuntimeCore::help(const std::function<bool()>& done, bool ending) {
  struct Helping {
    RuntimeCore& core;
    ~Helping() {
      core.helping_ = false;
      core.waits_for_others_.store(false);
      core.engine_.want_quiet(false);
    }
  };
  if (holds_.none() || !holds_.own()) {
    helping_ = true;
    const Helping helping{*this};
    world_.help(done);
    return true;
  }
  // What the application holds it cannot release while it waits.
  bool held_up = false;
  engine_.want_quiet(true);
  application_.serve_surely();
  helping_ = true;
  const Helping helping{*this};
  world_.help([&] {
    if (done()) return true;
    if (!engine_.looks_quiet()) return false;
    // Whoever is there may have been given the hold, or a reference to it. First, so that what he did before
    // he went is seen.
    waits_for_others_.store(!ending && others_are_there && others_are_there());
    if (waits_for_others_.load()) return false;
    // In this order: a callback that has just ended may have released something.
    const bool quiet =
        engine_.callbacks().empty() && !holds_.others() && engine_.quiet() && engine_.callbacks().empty();
    if (!quiet) return false;
    if (done()) return true;  // the last that moved may have brought what is waited for
    return held_up = true;
  });
  return !held_up;
}

std::string RuntimeCore::more_memory(NodeId node, Bytes needed) const {
  if (node == engine_.host())
    return "allow at least " + mebibytes_needed(limit_for ? limit_for(needed) : needed) + " of memory";
  return "give \"" + topology().nodes[index(node)].name + "\" at least " + mebibytes_needed(needed) +
         " of memory (memory= in --devices)";
}

void RuntimeCore::throw_held_up(const char* what) const {
  throw UsageError(std::string(what) + " would never return" + holds_.text());
}

void RuntimeCore::help_until(const std::function<bool()>& done, const char* what) {
  const bool held_up = !done() && !help(done);
  throw_if_stopped();
  if (held_up) throw_held_up(what);
}

bool RuntimeCore::all_over() const noexcept {
  std::uint64_t done = done_by_former_;
  for (const Progress& progress : progress_) done += progress.done();
  return done == submitted;
}

bool RuntimeCore::help_until_all_done(bool ending) {
  const auto all_done = [this] { return all_over() && engine_.callbacks().empty(); };
  if (all_done()) return true;
  for (Progress& progress : progress_) progress.set_target(0);  // every completion may be the last
  const bool over = help(all_done, ending);
  for (Progress& progress : progress_) progress.no_target();
  return over;
}

void RuntimeCore::flush() {
  if (const std::string held = holds_.held_for_writing(); !held.empty())
    throw UsageError("flush would send home what is being changed: this thread holds " + held +
                     "\n  Release it first (Hold::release, or the end of its scope).");
  reductions_.close_all();
  flush_event_ = {};
  flush_event_.kind = EventKind::flush;
  flush_event_.at = world_.now();
  application_.add(flush_event_);
  application_.serve_surely();
  help_until(
      [this] {
        return engine_.locked([this](memory::Memory&) { return !engine_.flushing(); }) ||
               engine_.stop_error() != 0 || winding_down_.load();
      },
      "flush");
  // No data that are still on their way are waited for when the runtime ends.
  if (winding_down_.load()) engine_.stop(std::make_exception_ptr(Error("a flush was given up half-way")));
  throw_if_stopped();
}

void RuntimeCore::refresh(std::vector<DatumId> data) {
  // Who winds down needs no results; after a stop, nothing moves.
  if (!refreshes_ || data.empty() || winding_down_.load() || engine_.stopped() || engine_.stop_error() != 0)
    return;
  application_.serve_surely();  // ends of tasks may not have been applied yet
  engine_.locked([&](memory::Memory& memory) {
    std::erase_if(data, [&](DatumId id) { return !memory.datum(id).dirty(); });
  });
  if (data.empty()) return;
  refresh_event_.data = std::move(data);
  refresh_event_.kind = EventKind::refresh;
  refresh_event_.at = world_.now();
  application_.add(refresh_event_);
  application_.serve_surely();
  help_until([this] {
    return engine_.locked([](memory::Memory& memory) { return !memory.flushing(); }) ||
           engine_.stop_error() != 0;
  });
}

void RuntimeCore::refresh(bool put_off_too) {
  if (!refreshes_) return;
  application_.serve_surely();  // ends of tasks may not have been applied yet
  refresh(engine_.locked([&](memory::Memory& memory) { return memory.away_from_home(put_off_too); }));
}

void RuntimeCore::put_refresh_off(const RegisteredDatum& datum, bool put_off) {
  engine_.locked([&](memory::Memory& memory) { memory.put_refresh_off(datum.id, put_off); });
}

void RuntimeCore::wind_down() noexcept {
  if (!process_.same_process()) return;
  winding_down_.store(true);
  world_.hurry();
  world_.nudge();
}

void RuntimeCore::throw_if_winding_down() const {
  if (winding_down_.load(std::memory_order_relaxed))
    throw Error("given up half-way, since the program has asked to end soon (Runtime::wind_down)");
}

void RuntimeCore::drop_clean() {
  flush_event_ = {};
  flush_event_.kind = EventKind::drop_clean;
  flush_event_.at = world_.now();
  application_.add(flush_event_);
  application_.serve_surely();
}

void RuntimeCore::throw_if_stopped() {
  if (const auto fatal = engine_.fatal()) std::rethrow_exception(fatal);
  if (const int error = engine_.stop_error(); error != 0) {
    if (const auto failure = engine_.stop_failure()) std::rethrow_exception(failure);
    throw SystemError("writing " + names_.text(engine_.stop_datum()) +
                      " home failed: " + std::strerror(error) +
                      "; the run was stopped, since its newest value exists in memory only");
  }
}

}  // namespace fairlead::engine
