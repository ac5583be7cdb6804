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

Options for_engine(Options options, std::size_t reporters, bool fixed_order) {
  options.reporters = reporters;
  options.first_bodies |= fixed_order;
  options.keep_ids |= options.trace_memory != 0;  // records name data by them
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

RuntimeCore::RuntimeCore(CoreOptions options, DrivenWorld& world)
    : world_(world),
      window_(window_for(options)),
      fixed_order_(options.fixed_order),
      engine_(options.topology, std::move(options.policy), world,
              for_engine(options.engine, world.reporters(), options.fixed_order)),
      machine_(topology(), engine_.view()),
      application_(engine_, world, graph_, 0),
      home_values_(*this, options.refresh && engine_.memory().flushes().homes_may_be_old()) {
  if (engine_.options().keep_ids) names_.keep();
  if (topology().workers.size() > 1) graph_.tasks().share();
  try {
    world_.begin(engine_, graph_, application_);
  } catch (...) {
    world_.end();  // threads that were started use what goes now
    throw;
  }
}

RuntimeCore::~RuntimeCore() {
  if (!caller_.same_process()) return;
  world_.end();
  if (surroundings_.say && !sources_.all_over() && engine_.fatal() == nullptr)
    surroundings_.say(
        "the runtime ended by another thread than its maker's, which cannot wait: tasks that were not over "
        "yet were not run\n");
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
    if (help_until_all_done(true)) {
      home_values_.refresh(true);
      return;
    }
    const std::string text =
        "the runtime was destroyed while tasks waited for what the program held; they were not run" +
        holds_.text();
    engine_.stop(std::make_exception_ptr(UsageError(text)));
    if (surroundings_.say) surroundings_.say(text + "\n");
  } catch (...) {
    // A run that was stopped inside has told so by wait().
  }
}

void RuntimeCore::keep(std::shared_ptr<void> something) noexcept {
  caller_.same_process() ? kept_.keep(std::move(something)) : Kept::keep_for_good(std::move(something));
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

void RuntimeCore::advise(const RegisteredDatum& datum, int device) {
  if (device != no_device && (device < 0 || device >= machine_.devices))
    throw UsageError(datum.text() + " is to live on device " + std::to_string(device) + ", but there " +
                     machine_.devices_text());
  engine_.advise(datum.id, device);
}

void RuntimeCore::remove_datum(RegisteredDatum& datum) {
  if (datum.id == no_id<DatumId>) return;
  note_data_change();
  application_.serve_surely();  // the ends of its tasks may not be applied yet
  const auto throw_if_failed = [this] {
    if (engine_.stop_reason().stopped()) throw_why_stopped();
  };
  throw_if_failed();
  if (datum.reduction != nullptr) reductions_.forget(datum);
  if (home_values_.may_be_away() && datum.in_place) home_values_.refresh({datum.id});
  throw_if_failed();
  if (bool removed = engine_.try_remove(datum.id); !removed) {
    world_.help([&] { return removed || (removed = engine_.try_remove(datum.id)); });
    throw_if_failed();
  }
  names_.remove(datum.id);
  graph_.forget(datum.tail, application_.recycler());
  datum.tail = {};
  datum.id = no_id<DatumId>;
  ++datum.generation;  // handles of it are found out
}

bool RuntimeCore::help(const std::function<bool()>& done, bool ending) {
  struct WaitsForQuiet {
    RuntimeCore& core;
    ~WaitsForQuiet() {
      core.waits_for_others_.store(false);
      core.engine_.want_quiet(false);
    }
  };
  if (holds_.none() || !holds_.own()) {
    const Caller::InBodies in_bodies(caller_);
    world_.help(done);
    return true;
  }
  // What the application holds it cannot release while it waits.
  bool held_up = false;
  engine_.want_quiet(true);
  application_.serve_surely();
  const Caller::InBodies in_bodies(caller_);
  const WaitsForQuiet waits{*this};
  world_.help([&] {
    held_up = false;
    if (done()) return true;
    if (!engine_.looks_quiet()) return false;
    // Whoever is there may have been given the hold, or a reference to it. First, so that what he did before
    // he went is seen.
    waits_for_others_.store(!ending && surroundings_.others_are_there && surroundings_.others_are_there());
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
  if (node == engine_.view().host())
    return "allow at least " +
           mebibytes_needed(surroundings_.limit_for ? surroundings_.limit_for(needed) : needed) +
           " of memory";
  return "give \"" + topology().nodes[index(node)].name + "\" at least " + mebibytes_needed(needed) +
         " of memory" + (surroundings_.limit_for ? " (memory= in --devices)" : "");
}

void RuntimeCore::throw_held_up(const char* what) const {
  throw UsageError(std::string(what) + " would never return" + holds_.text());
}

void RuntimeCore::help_until(const std::function<bool()>& done, const char* what) {
  const bool held_up = !done() && !help(done);
  throw_if_stopped();
  if (held_up) throw_held_up(what);
}

bool RuntimeCore::help_until_all_done(bool ending) {
  const auto all_done = [this] {
    return sources_.all_over() && engine_.callbacks().empty() && !holds_.some_end_by_themselves();
  };
  if (all_done()) return true;
  sources_.nudge_always(true);
  const bool over = help(all_done, ending);
  sources_.nudge_always(false);
  return over;
}

void RuntimeCore::wind_down() noexcept {
  if (!caller_.same_process()) return;
  winding_down_.store(true);
  world_.hurry();
  world_.wake(Who::application());
}

void RuntimeCore::end_what_runs() {
  if (!caller_.may_wait()) return;
  if (engine_.stop_reason().stopped())
    return world_.help([] { return true; });  // also for copies of the program's data, when no task is left
  static_cast<void>(help_until_all_done(true));
}

void RuntimeCore::throw_if_winding_down() {
  if (!winding_down_.load(std::memory_order_relaxed)) return;
  end_what_runs();
  throw Error("given up half-way, since the program has asked to end soon (Runtime::wind_down)");
}

void RuntimeCore::throw_if_stopped() {
  if (engine_.stop_reason().stopped() || engine_.stop_reason().error() != 0) throw_why_stopped();
}

void RuntimeCore::throw_why_stopped() {
  end_what_runs();
  const Stop& stop = engine_.stop_reason();
  if (const auto fatal = engine_.fatal()) std::rethrow_exception(fatal);
  if (const auto failure = stop.failure()) std::rethrow_exception(failure);
  throw SystemError("writing " + names_.text(stop.datum()) + " home failed: " + std::strerror(stop.error()) +
                    "; the run was stopped, since its newest value exists in memory only");
}

}  // namespace fairlead::engine
