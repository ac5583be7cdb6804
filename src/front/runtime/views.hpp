// The ways in which one datum can be seen: as a whole, or as the parts of one of its partitions. One of them
// is active at a time, in program order; each view's data are registered for themselves, and their homes lie
// upon each other. A task that uses another view than the active one is preceded by a switch
// (FlowSource::show).
#pragma once
#include <vector>

#include "engine/runtime_core.hpp"

namespace fairlead::front {

struct Views;

struct View {
  Views* of = nullptr;
  std::vector<engine::RegisteredDatum*> data{};  ///< the whole, or all parts
};

/// The application's thread's.
struct Views {
  View whole;
  View* active = &whole;
  std::size_t partitions = 0;
};

/// Whether the datum has a value if it is seen now. Parts have values if the whole had, and the other way
/// round.
bool has_value(const engine::RegisteredDatum& datum) noexcept;

}  // namespace fairlead::front
