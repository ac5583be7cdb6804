// When a datum in the program's own memory is updated there after an accelerator has changed it in device memory.
#pragma once
#include <cstdint>

namespace fairlead {

enum class Refresh : std::uint8_t {
  by_wait,     // before Flow::wait() returns, before Future::wait() of a task that wrote it returns, and
               // before the callbacks of such a task; the program may then read the memory
  by_acquire,  // only by acquire, flush, or the removal of the datum: for data that the program rarely reads
};

}  // namespace fairlead
