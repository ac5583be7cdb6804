// When a datum in the program's own memory is brought up to date there, after accelerators have changed it in
// memory of theirs.
#pragma once
#include <cstdint>

namespace fairlead {

enum class Refresh : std::uint8_t {
  by_wait,     // before Flow::wait(), Future::wait() of a task that wrote it, and callbacks of such a task
               // come back to the program, which may then simply read it
  by_acquire,  // not then: for data that are read now and then only. acquire, flush and the end of the datum
               // bring it
};

}  // namespace fairlead
