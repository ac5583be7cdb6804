// Registration, waiting and the checks on who calls.
#include "engine/runtime_core.hpp"

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

Options with_reporters(Options options, std::size_t reporters) {
  options.reporters = reporters;
  return options;
}
}  // namespace

RuntimeCore::RuntimeCore(CoreOptions options, DrivenWorld& world)
    : world_(world),
      window_(window_for(options)),
      engine_(options.topology, std::move(options.policy), world,
              with_reporters(options.engine, world.reporters())),
      application_(engine_, world, graph_, 0) {
  world_.begin(engine_, graph_, application_);
}

RuntimeCore::~RuntimeCore() {
  if (process_.same_process()) world_.end();
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
  return process_.same_process() && std::this_thread::get_id() == owner_ && !helping_;
}

void RuntimeCore::close() noexcept {
  if (!process_.same_process()) return;
  closed_.store(true);
  try {
    if (may_help()) help_until_all_done();
  } catch (...) {
    // A run that was stopped inside has told so by wait().
  }
}

void RuntimeCore::keep(std::shared_ptr<void> something) noexcept {
  if (!process_.same_process()) {
    new std::shared_ptr<void>(
        std::move(something));  // nobody looks for it: the process has little left to do
    return;
  }
  const std::lock_guard guard(kept_mutex_);
  kept_.push_back(std::move(something));
}

void RuntimeCore::check_caller(const char* what) const {
  check_process(what);
  if (closed_.load()) throw UsageError(std::string(what) + " was called after its runtime was destroyed");
  if (std::this_thread::get_id() != owner_)
    throw UsageError(std::string(what) +
                     " was called by another thread than the one that made the runtime: a "
                     "task's body, or a thread of the program's own");
  if (helping_)
    throw UsageError(std::string(what) + " was called inside a task's body, where it would wait for itself");
}

void RuntimeCore::register_datum(RegisteredDatum& datum, const memory::DatumSpec& spec) {
  datum.id = engine_.add(spec);
  datum.bytes = spec.bytes;
  datum.runtime = this;
  const auto& nodes = topology().nodes;
  for (const NodeSpec& node : nodes)
    for (const NodeId home : node.reaches) datum.in_place |= home == spec.home;
}

void RuntimeCore::remove_datum(RegisteredDatum& datum) {
  if (datum.id == no_id<DatumId>) return;
  application_.serve_surely();  // the ends of its tasks may not be applied yet
  if (!engine_.try_remove(datum.id)) world_.help([&] { return engine_.try_remove(datum.id); });
  graph_.forget(datum.tail, application_.recycler());
  datum.id = no_id<DatumId>;
  ++datum.generation;  // handles of it are found out
}

void RuntimeCore::help(const std::function<bool()>& done) {
  helping_ = true;
  try {
    world_.help(done);
  } catch (...) {
    helping_ = false;
    throw;
  }
  helping_ = false;
}

void RuntimeCore::help_until(const std::function<bool()>& done) {
  if (!done()) help(done);
  throw_if_stopped();
}

void RuntimeCore::help_until_all_done() {
  const auto all_done = [this] {
    std::uint64_t done = 0;
    for (const Progress& progress : progress_) done += progress.done();
    return done == submitted;
  };
  if (all_done()) return;
  for (Progress& progress : progress_) progress.set_target(0);  // every completion may be the last
  help(all_done);
  for (Progress& progress : progress_) progress.no_target();
}

void RuntimeCore::flush() {
  flush_event_ = {};
  flush_event_.kind = EventKind::flush;
  flush_event_.at = world_.now();
  application_.add(flush_event_);
  application_.serve_surely();
  help_until([this] {
    return engine_.locked([](memory::Memory& memory) { return !memory.flushing(); }) ||
           engine_.stop_error() != 0 || winding_down_.load();
  });
  // No data that are still on their way are waited for when the runtime ends.
  if (winding_down_.load()) engine_.stop(std::make_exception_ptr(Error("a flush was given up half-way")));
  throw_if_stopped();
}

void RuntimeCore::wind_down() noexcept {
  if (!process_.same_process()) return;
  winding_down_.store(true);
  world_.hurry();
  world_.nudge();
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
    const DatumId id = engine_.stop_datum();
    throw SystemError("writing " +
                      (name_of_datum ? name_of_datum(id) : "datum " + std::to_string(index(id))) +
                      " home failed: " + std::strerror(error) +
                      "; the run was stopped, since its newest value exists in memory only");
  }
}

}  // namespace fairlead::engine
