// Registration of data, waiting, and the checks of callers.
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

Options for_engine(Options options, std::size_t reporters, bool fixed_order) {
  options.reporters = reporters;
  options.first_bodies |= fixed_order;
  options.keep_ids |= options.trace_memory != 0;  // trace records refer to data by id
  return options;
}
}  // namespace

MachineFacts::MachineFacts(const Topology& topology, const EngineView& view)
    : devices(static_cast<int>(accelerators(view).size())) {
  for (const NodeSpec& node : topology.nodes)
    if (node.role == NodeRole::cache)
      smallest_cache = std::min(smallest_cache, whole_pages_in(node.capacity));
  for (const WorkerSpec& worker : topology.workers) {
    kinds_of_workers |= 1u << static_cast<unsigned>(worker.kind);
    if (worker.node == view.host()) host_kinds |= 1u << static_cast<unsigned>(worker.kind);
  }
}

std::string MachineFacts::devices_text() const {
  return devices == 0 ? "are no accelerators" : "are " + std::to_string(devices) + ", counted from 0";
}

RuntimeCore::RuntimeCore(CoreOptions options, RunnableWorld& world)
    : world_(world),
      window_(window_for(options)),
      fixed_order_(options.fixed_order),
      engine_(options.topology, std::move(options.policy), world,
              for_engine(options.engine, world.reporters(), options.fixed_order)),
      machine_(topology(), engine_.view()),
      application_(engine_, world, graph_, 0),
      home_values_(*this, options.refresh && engine_.memory().flushes().home_may_be_stale()) {
  if (engine_.options().keep_ids) names_.keep();
  if (topology().workers.size() > 1) graph_.tasks().share();
  try {
    world_.activate(engine_, graph_, application_);
  } catch (...) {
    world_.stop();  // started threads use members that are about to be destroyed
    throw;
  }
}

RuntimeCore::~RuntimeCore() {
  if (!caller_.same_process()) return;
  world_.stop();
  if (surroundings_.show_message && !sources_.all_over() && engine_.fatal() == nullptr)
    surroundings_.show_message(
        "the runtime was destroyed by another thread than the one that created it, so it could not wait: "
        "unfinished tasks were not run\n");
}

void RuntimeCore::replace_policy(std::unique_ptr<Policy> policy, std::string name) {
  window_ = std::max(window_, std::min(policy->horizon(), largest_window));
  engine_.replace_policy(std::move(policy), std::move(name));
}

void RuntimeCore::close() noexcept {
  if (!caller_.same_process()) return;
  caller_.close();
  try {
    if (!caller_.may_wait()) return;
    reductions_.close_all();
    if (wait_for_all(true)) {
      home_values_.refresh(true);
      return;
    }
    const std::string text =
        "the runtime was destroyed while tasks waited for data that the program held; they were not run" +
        holds_.text();
    engine_.stop(std::make_exception_ptr(UsageError(text)));
    if (surroundings_.show_message) surroundings_.show_message(text + "\n");
  } catch (...) {
    // An error that stopped the run was reported by wait().
  }
}

void RuntimeCore::keep(std::shared_ptr<void> something) noexcept {
  caller_.same_process() ? kept_.keep(std::move(something))
                         : DeferredObjects::keep_for_good(std::move(something));
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
    for (const NodeId home : node.directly_accessible_homes) datum.in_place |= home == spec.home;
}

void RuntimeCore::advise(const RegisteredDatum& datum, int device) {
  if (device != no_device && (device < 0 || device >= machine_.devices))
    throw UsageError(datum.text() + " has its home on device " + std::to_string(device) + ", but there " +
                     machine_.devices_text());
  engine_.advise(datum.id, device);
}

void RuntimeCore::remove_datum(RegisteredDatum& datum) {
  if (datum.id == no_id<DatumId>) return;
  note_data_change();
  application_.serve_blocking();  // completions of its tasks may not have been applied yet
  const auto throw_if_failed = [this] {
    if (engine_.stop_reason().stopped()) throw_why_stopped();
  };
  throw_if_failed();
  if (datum.reduction != nullptr) reductions_.forget(datum);
  if (home_values_.may_be_away() && datum.in_place) home_values_.refresh({datum.id});
  throw_if_failed();
  if (bool removed = engine_.try_remove(datum.id); !removed) {
    world_.wait([&] { return removed || (removed = engine_.try_remove(datum.id)); });
    throw_if_failed();
  }
  names_.remove(datum.id);
  graph_.forget(datum.tail, application_.recycler());
  datum.tail = {};
  datum.id = no_id<DatumId>;
  ++datum.generation;  // invalidates its handles
}

bool RuntimeCore::wait(const std::function<bool()>& done, bool ending) {
  struct WaitsForQuiet {
    RuntimeCore& core;
    ~WaitsForQuiet() {
      core.waits_for_others_.store(false);
      core.engine_.notify_quiescence(false);
    }
  };
  if (holds_.none() || !holds_.own()) {
    const CallerCheck::InBodies in_bodies(caller_);
    world_.wait(done);
    return true;
  }
  // While the application waits, it cannot release its holds.
  bool held_up = false;
  engine_.notify_quiescence(true);
  application_.serve_blocking();
  const CallerCheck::InBodies in_bodies(caller_);
  const WaitsForQuiet waits{*this};
  world_.wait([&] {
    held_up = false;
    if (done()) return true;
    if (!engine_.looks_quiescent()) return false;
    // Other threads may have been given the hold, or a reference to it. They are checked first, so that the last
    // actions of a thread that has ended are seen.
    waits_for_others_.store(!ending && surroundings_.has_other_threads && surroundings_.has_other_threads());
    if (waits_for_others_.load()) return false;
    // The order matters: a callback that has just ended may have released a hold.
    const bool quiet = engine_.callbacks().empty() && !holds_.others() && engine_.is_quiescent() &&
                       engine_.callbacks().empty();
    if (!quiet) return false;
    if (done()) return true;  // the last event may have satisfied the condition
    return held_up = true;
  });
  return !held_up;
}

std::string RuntimeCore::memory_advice(NodeId node, Bytes needed) const {
  if (node == engine_.view().host())
    return "allow at least " +
           mebibytes_needed(surroundings_.limit_for ? surroundings_.limit_for(needed) : needed) +
           " of memory";
  return "give \"" + topology().nodes[index(node)].name + "\" at least " + mebibytes_needed(needed) +
         " of memory" + (surroundings_.limit_for ? " (memory= in --devices)" : "");
}

void RuntimeCore::throw_deadlock(const char* what) const {
  throw UsageError(std::string(what) + " would never return" + holds_.text());
}

void RuntimeCore::wait_until(const std::function<bool()>& done, const char* what) {
  const bool held_up = !done() && !wait(done);
  throw_if_stopped();
  if (held_up) throw_deadlock(what);
}

bool RuntimeCore::wait_for_all(bool ending) {
  const auto all_done = [this] {
    return sources_.all_over() && engine_.callbacks().empty() && !holds_.some_end_by_themselves();
  };
  if (all_done()) return true;
  sources_.wake_on_every_completion(true);
  const bool over = wait(all_done, ending);
  sources_.wake_on_every_completion(false);
  return over;
}

void RuntimeCore::wind_down() noexcept {
  if (!caller_.same_process()) return;
  winding_down_.store(true);
  world_.skip_throttling();
  world_.wake(WakeTarget::application());
}

void RuntimeCore::wait_for_running_bodies() {
  if (!caller_.may_wait()) return;
  if (engine_.stop_reason().stopped())
    // waits also for copies of the program's data, when no task is left
    return world_.wait([] { return true; });
  static_cast<void>(wait_for_all(true));
}

void RuntimeCore::throw_if_winding_down() {
  if (!winding_down_.load(std::memory_order_relaxed)) return;
  wait_for_running_bodies();
  throw Error("cancelled, because the program has called Runtime::wind_down");
}

void RuntimeCore::throw_if_stopped() {
  if (engine_.stop_reason().stopped() || engine_.stop_reason().error() != 0) throw_why_stopped();
}

void RuntimeCore::throw_why_stopped() {
  wait_for_running_bodies();
  const StopReason& stop = engine_.stop_reason();
  if (const auto fatal = engine_.fatal()) std::rethrow_exception(fatal);
  if (const auto failure = stop.failure()) std::rethrow_exception(failure);
  throw SystemError("writing " + names_.text(stop.datum()) + " home failed: " + std::strerror(stop.error()) +
                    "; the run was stopped, since its newest value exists in memory only");
}

}  // namespace fairlead::engine
