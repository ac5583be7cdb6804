// Placement hints: the program proposes the accelerator on which a task runs, or the location of one of its data.
// Policies that place data on accelerators (owner-user) follow the hints; the others ignore them (docs/data.md).
#pragma once
#include <cstdint>

namespace fairlead {

/// The device number that means "none". Devices are numbered by memory node: see Runtime::devices().
inline constexpr int no_device = -1;

/// The hint in a task's descriptor.
struct PlaceHint {
  std::int8_t device = no_device;  ///< the number of an accelerator
  std::int8_t like = -1;           ///< the index of an access: run where that datum resides, if it resides
                                   ///< anywhere; below 0: none

  bool operator==(const PlaceHint&) const = default;
};

}  // namespace fairlead
