// Events are the only input of the engine. Tasks and copies are events themselves, so that reporting one allocates
// nothing.
#pragma once
#include <fairlead/ids.hpp>

#include <cstdint>

#include "base/time.hpp"

namespace fairlead {

/// Kinds of events.
enum class EventKind : std::uint8_t {
  task_ready,           // all its predecessors have finished
  task_finished,        // its body has returned and its data are written
  task_failed,          // its body threw, or the worker was lost
  task_returned,        // recalled before the worker started it
  recall_refused,       // a recall came after the worker had started the task
  copy_finished,        // all bytes have arrived
  copy_failed,          // the bytes will not arrive
  worker_available,     // the worker accepts tasks from now on
  worker_unavailable,   // the worker accepts no tasks until it arrives again
  flush,                // the program requests that all results are written back to their homes
  timer,                // a requested wake-up, without other content
  discard_clean,        // the program requests that replicas equal to their home are discarded
  hold_released,        // the application releases a hold, or gives up its request for one
  refresh,              // the program requests the newest values in its own memory: see RefreshRequest
  worker_lost,          // accepts no more tasks; those that it started have ended, and it starts no others
  simulation_finished,  // a what-if simulation has finished: see SimulationFinished
  node_lost,            // a device's memory and its workers are lost: see NodeLoss
  task_reclaimed,       // its device was lost before the body could start
  pause,                // the program requests that no task starts: see engine/pause.hpp
  resume,               // tasks may start again
};

struct Event {
  Event* next = nullptr;  ///< link of the inbox's list
  Time at{};              ///< when it occurred
  Duration duration{};    ///< task_finished, task_failed: run time of the body
  EventKind kind = EventKind::timer;
  /// Where it occurred. For task_ready: the worker whose task released it (none: the submitter).
  WorkerId worker = no_id<WorkerId>;
  std::uint16_t reporter = 0;  ///< number of the reporter, which may reuse a finished task once this is
                               ///< applied
};

}  // namespace fairlead
