// What runs that are compared moved, by direction and cause.
#pragma once
#include <array>
#include <string>
#include <vector>

#include "memory/replica.hpp"
#include "report/comparison.hpp"

namespace fairlead::report::html {

using ByCause = std::array<Traffic, memory::cause_count>;

Bytes sum(const ByCause& traffic);

/// Only then its report has figures.
inline bool finished(const ComparedRun& run) { return run.problem.empty(); }

/// All links of a sort in one direction; between devices, which all are as far from home, in both.
struct Direction {
  std::string title;  ///< "to devices"
  std::string total;  ///< in ComparedRun::totals
  bool from_home = false, to_home = false;
  bool bounded = false;  ///< by what the comparison says of loads

  ByCause of(const ComparedRun& run) const;
};

/// Those in which something was moved in some run.
std::vector<Direction> directions_of(const Comparison& comparison);

/// "-" for none.
std::string bytes_cell(Bytes bytes);

}  // namespace fairlead::report::html
