// Stops all workers between two tasks, for a consistent cut: no task is half done, and data stay as they are until the
// pause ends. Copies continue.
//
// Workers get no new tasks, and launched tasks that have not started are recalled, as for a task that needs all workers
// (span_scheduler.hpp). Tasks whose data arrive keep their memory and are launched afterwards. So a pause waits for
// running bodies only, which need nothing more.
#pragma once
#include "engine/engine_view.hpp"
#include "engine/fast_path_control.hpp"
#include "engine/launcher.hpp"
#include "engine/pipelines.hpp"

namespace fairlead::engine {

/// Under the engine's lock.
class Pause {
 public:
  Pause(const EngineView& view, Pipelines& pipelines, Launcher& launcher, FastPathControl& fast_path,
        memory::Memory& memory)
      : view_(view), pipelines_(pipelines), launcher_(launcher), fast_path_(fast_path), memory_(memory) {}

  /// Does nothing if a pause was requested before.
  void begin();
  void end();
  bool is_requested() const noexcept { return requested_; }
  /// Recalls launched tasks that have not started.
  void advance();
  /// No worker has a task that may run.
  bool is_complete() const noexcept;

 private:
  const EngineView& view_;
  Pipelines& pipelines_;
  Launcher& launcher_;
  FastPathControl& fast_path_;
  memory::Memory& memory_;
  bool requested_ = false;
};

}  // namespace fairlead::engine
