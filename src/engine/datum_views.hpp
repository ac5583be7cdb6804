// The ways in which one datum can be seen: as a whole, or as the parts of one of its partitions. One of them
// is active at a time, in program order; each view's data are registered for themselves, and their homes lie
// upon each other. A task that uses another view than the active one is preceded by a switch
// (FlowSource::show).
#pragma once
#include <cstddef>
#include <vector>

namespace fairlead::engine {

struct DatumViews;
struct RegisteredDatum;

struct DatumView {
  DatumViews* of = nullptr;
  std::vector<RegisteredDatum*> data{};  ///< the whole, or all parts
};

/// The application's thread's.
struct DatumViews {
  DatumView whole;
  DatumView* active = &whole;
  std::size_t partitions = 0;
};

}  // namespace fairlead::engine
