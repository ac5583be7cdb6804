// Events are the only input of the engine. Tasks and copies are events themselves, so that reporting one allocates nothing.
#pragma once
#include <fairlead/ids.hpp>

#include <cstdint>

#include "base/time.hpp"

namespace fairlead {

/// What happened, to whom: the only input of the engine. Tasks and copies are events themselves, so that
/// reporting one allocates nothing.
enum class EventKind : std::uint8_t {
  task_ready,     // all its predecessors are finished
  task_finished,  // its body is over and its data are written
  task_failed,    // its body threw, or the worker was lost
  task_returned,  // the worker gave it back before starting it
  task_kept,      // asked for back too late: it had started
  copy_finished,  // the bytes have landed
  copy_failed,    // they have not, and will not
  datum_registered,
  datum_released,
  flow_cancelled,  // unstarted tasks are to complete without running
  time_passed,     // nothing else: a wake-up that was asked for
};

struct Event {
  Event* next = nullptr;  ///< the inbox's
  Time at{};              ///< when it happened
  Duration duration{};    ///< task_finished, task_failed: how long the body ran
  EventKind kind = EventKind::time_passed;
  WorkerId worker =
      no_id<WorkerId>;  ///< where it happened; task_ready: who released it (none: the submitter)
};

}  // namespace fairlead
