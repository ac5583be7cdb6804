// Where a task is to run, as the program wishes it: on an accelerator, or where one of its data lives.
// Policies that place data on accelerators (owner-user) follow such wishes, the others do not look at them
// (docs/data.md).
#pragma once
#include <cstdint>

namespace fairlead {

/// "None", for numbers of accelerators. These count memory nodes: see Runtime::devices().
inline constexpr int no_device = -1;

/// As a task's descriptor has it.
struct PlaceHint {
  std::int8_t device = no_device;  ///< an accelerator
  std::int8_t like = -1;           ///< which of its accesses: where that datum lives, if it lives anywhere

  bool operator==(const PlaceHint&) const = default;
};

}  // namespace fairlead
