// A pause of a run, for the lifetime of an object: see engine/pause.hpp.
#pragma once
#include <functional>
#include <utility>

#include "data/task.hpp"
#include "engine/runtime_core.hpp"

namespace fairlead::front {

/// Used by the application's thread.
class PauseOfRun {
 public:
  /// Waits until no body runs, or is_given_up() returns true. Throws the error that stopped the run, if any.
  PauseOfRun(engine::RuntimeCore& core, std::function<bool()> is_given_up)
      : core_(core), is_given_up_(std::move(is_given_up)) {
    engine::Engine& engine = core_.engine();
    engine.notify_quiescence(true);  // this thread is woken when the pause is complete
    try {
      serve(pause_, EventKind::pause);
      core_.wait_until([&] {
        return engine.is_paused() || engine.stop_reason().stopped() || core_.winding_down() || is_given_up_();
      });
    } catch (...) {
      end();
      throw;
    }
  }
  ~PauseOfRun() { end(); }
  PauseOfRun(const PauseOfRun&) = delete;
  PauseOfRun& operator=(const PauseOfRun&) = delete;

  /// False if the program is ending instead.
  bool is_complete() const { return core_.engine().is_paused(); }
  /// Writes all data to their homes and waits for completion, or until is_given_up() returns true. Throws the error that
  /// stopped the run, if any.
  void flush() const {
    engine::Engine& engine = core_.engine();
    flush_ = {};
    serve(flush_, EventKind::flush);
    core_.wait_until([&] {
      return engine.locked([&](memory::Memory&) { return !engine.flushing(); }) ||
             engine.stop_reason().error() != 0 || is_given_up_();
    });
  }

 private:
  void serve(Event& event, EventKind kind) const {
    event.kind = kind;
    event.at = core_.world().now();
    core_.application().add(event);
    core_.application().serve_blocking();
  }
  void end() noexcept {
    serve(resume_, EventKind::resume);
    core_.engine().notify_quiescence(false);
    core_.world().wake(engine::WakeTarget::any_worker());
  }

  engine::RuntimeCore& core_;
  const std::function<bool()> is_given_up_;
  mutable Event pause_, flush_, resume_;
};

}  // namespace fairlead::front
