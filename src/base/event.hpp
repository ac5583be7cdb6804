// Events are the only input of the engine. Tasks and copies are events themselves, so that reporting one
// allocates nothing.
#pragma once
#include <fairlead/ids.hpp>

#include <cstdint>

#include "base/time.hpp"

namespace fairlead {

/// What happened.
enum class EventKind : std::uint8_t {
  task_ready,      // all its predecessors are finished
  task_finished,   // its body is over and its data are written
  task_failed,     // its body threw, or the worker was lost
  task_returned,   // asked for back, and the worker had not started it
  recall_refused,  // asked for back, but the worker was there first
  copy_finished,   // the bytes have landed
  copy_failed,     // they have not, and will not
  worker_arrived,  // the worker takes tasks from now on
  worker_left,     // it does not, until it arrives again
  flush,           // the program wants all results at home
  time_passed,     // nothing else: a wake-up that was asked for
  drop_clean,      // the program wants caches emptied of what their homes hold as well
  hold_released,   // the application lets go of data it held, or does not want them any more
  refresh,         // the program wants to find the newest values in its own memory: see RefreshRequest
  worker_lost,     // it takes none any more; what it had begun is over, and it begins nothing else
  rehearsed,       // what lies ahead has been played: see RehearsalOver
  node_lost,       // the memory of a device is gone, and its workers with it: see NodeLoss
  task_unbegun,    // its worker is that of a device that was lost before the body could begin
};

struct Event {
  Event* next = nullptr;  ///< the inbox's
  Time at{};              ///< when it happened
  Duration duration{};    ///< task_finished, task_failed: how long the body ran
  EventKind kind = EventKind::time_passed;
  /// Where it happened; task_ready: who released it (none: the submitter).
  WorkerId worker = no_id<WorkerId>;
  std::uint16_t reporter = 0;  ///< who says so, and may reuse a finished task once it is applied
};

}  // namespace fairlead
