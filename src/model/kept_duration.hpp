// One record of durations from earlier runs on this machine.
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

struct DurationRecord {
  std::string codelet;  ///< name of the codelet
  WorkerKind kind = WorkerKind::cpu;
  std::string processor;                  ///< model of processor, as in Processor; empty: any
  std::string implementation;             ///< name among those for this kind of worker; may be empty
  WorkUnit unit = WorkUnit::none;         ///< of `size`
  std::uint64_t footprint = 0, size = 0;  ///< as in Footprint; size in bytes without another unit
  std::uint64_t tasks = 0;                ///< measured tasks in all runs
  Quantiles quantiles_ns{};
  std::int32_t day = 0;  ///< day of the last measurement, since 1970; 0: today

  /// The identity of a record, and the sort key of the file.
  auto key() const { return std::tie(codelet, kind, processor, implementation, unit, size, footprint); }
  friend bool operator==(const DurationRecord&, const DurationRecord&) = default;
};

using KeptDurations = std::vector<DurationRecord>;

}  // namespace fairlead::model
