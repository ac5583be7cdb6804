// The task graphs built into the simulator, by name. A new one is one file in workloads/ and one line in the list.
#pragma once
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "policy/policy_options.hpp"
#include "report/bounds.hpp"
#include "simulate/program.hpp"

namespace fairlead::simulate {

/// The size of a workload.
struct WorkloadSize {
  std::int64_t n = 0;     ///< rows of the matrix, or as the workload's summary defines it
  std::int64_t tile = 0;  ///< side of a tile; the last one may be smaller
  Precision precision = Precision::double_;
};

/// An entry of the list.
struct Workload {
  std::string_view name;
  std::string_view summary;  ///< one line; defines n and tile
  Program (*make)(const WorkloadSize&, const PolicyOptions& options);
  /// Bounds for a fast memory of the given bytes; null if unknown.
  report::IoBounds (*bounds)(const WorkloadSize&, Bytes memory);
  std::span<const PolicyOption> options{};  ///< options after the name, as for a policy
};

/// In display order.
std::span<const Workload> workloads();
/// `written`: a name, optionally with options: "qr:tree=binary". Throws ConfigError for an unknown name or option, with
/// the closest name, and for invalid sizes.
Program make_workload(std::string_view written, const WorkloadSize& size);
const Workload& find_workload(std::string_view written);

}  // namespace fairlead::simulate
