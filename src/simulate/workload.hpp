// The task graphs that come with the simulator, by name. A new one is one file in workloads/ and one line in
// the list.
#pragma once
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "policy/policy_options.hpp"
#include "report/bounds.hpp"
#include "simulate/program.hpp"

namespace fairlead::simulate {

/// How large it is.
struct WorkloadSize {
  std::int64_t n = 0;     ///< rows of the matrix, or what the workload's summary says
  std::int64_t tile = 0;  ///< of a tile's edge; the last one may be smaller
  Precision precision = Precision::double_;
};

/// A workload as the list names it.
struct Workload {
  std::string_view name;
  std::string_view summary;  ///< one line; says what n and tile are
  Program (*make)(const WorkloadSize&, const PolicyOptions& options);
  /// For a fast memory of so many bytes; null where no bound is known.
  report::IoBounds (*bounds)(const WorkloadSize&, Bytes memory);
  std::span<const PolicyOption> options{};  ///< what can be set behind its name, as for a policy
};

/// In the order in which they are listed to people.
std::span<const Workload> workloads();
/// `written`: a name, perhaps with options behind it: "qr:tree=binary". Throws ConfigError for a name or an
/// option that there is not, naming what comes nearest, and for sizes that make no sense.
Program make_workload(std::string_view written, const WorkloadSize& size);
const Workload& find_workload(std::string_view written);

}  // namespace fairlead::simulate
