// The traffic of compared runs, by direction and cause.
#pragma once
#include <array>
#include <string>
#include <vector>

#include "memory/replica.hpp"
#include "report/comparison.hpp"

namespace fairlead::report::html {

using ByCause = std::array<TransferTotals, memory::cause_count>;

Bytes sum(const ByCause& traffic);

/// The report has figures only if the run finished.
inline bool finished(const ComparedRun& run) { return run.problem.empty(); }

/// All links of a kind in one direction. Links between devices count in both, since their ends are equally far from
/// home.
struct TrafficDirection {
  std::string title;  ///< "to devices"
  std::string total;  ///< name in ComparedRun::totals
  bool from_home = false, to_home = false;
  bool bounded = false;  ///< the comparison's bounds of loads apply

  ByCause of(const ComparedRun& run) const;
};

/// The directions in which some run transferred data.
std::vector<TrafficDirection> directions_of(const Comparison& comparison);

/// The bytes as text; "-" for 0.
std::string bytes_cell(Bytes bytes);

}  // namespace fairlead::report::html
