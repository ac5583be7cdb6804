// The views of one datum: as a whole, or as the parts of one of its partitions. One view is active at a time, in
// program order. The data of each view are registered separately, and their homes overlap. Before a task that uses an
// inactive view, FlowSource::activate_view inserts a view switch.
#pragma once
#include <cstddef>
#include <vector>

namespace fairlead::engine {

struct DatumViews;
struct RegisteredDatum;

struct RegisteredView {
  DatumViews* of = nullptr;
  std::vector<RegisteredDatum*> data{};  ///< the whole datum, or all parts of the partition
};

/// Used by the application's thread only.
struct DatumViews {
  RegisteredView whole;
  RegisteredView* active = &whole;
  std::size_t partitions = 0;
};

}  // namespace fairlead::engine
