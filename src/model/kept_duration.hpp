// One line of what is known about durations when a run begins: what earlier runs on this machine found.
#pragma once
#include <fairlead/codelet_info.hpp>

#include <compare>
#include <cstdint>
#include <string>
#include <tuple>
#include <vector>

#include <fairlead/worker_kind.hpp>
#include "model/quantile_history.hpp"

namespace fairlead::model {

struct KeptDuration {
  std::string codelet;  ///< its name
  WorkerKind kind = WorkerKind::cpu;
  std::string processor;                  ///< which of that kind, as in Processor; empty: any
  std::string implementation;             ///< its name among those for this kind of worker; may be empty
  WorkUnit unit = WorkUnit::none;         ///< of `size`
  std::uint64_t footprint = 0, size = 0;  ///< as in Footprint; bytes where there is no other unit
  std::uint64_t tasks = 0;                ///< measured, in all runs together
  Quantiles quantiles_ns{};
  std::int32_t day = 0;  ///< of the last one, since 1970; 0: today

  /// What says whether two are about the same thing; and the order of the file.
  auto key() const { return std::tie(codelet, kind, processor, implementation, unit, size, footprint); }
  friend bool operator==(const KeptDuration&, const KeptDuration&) = default;
};

using KeptDurations = std::vector<KeptDuration>;

}  // namespace fairlead::model
