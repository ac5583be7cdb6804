// Policies compared with the first of them. A single size is not representative: whether one more tile fits may decide. So
// several sizes and seeds run, and ratios of their times and bytes are averaged.
#pragma once
#include <fairlead/config.hpp>

#include <cstdint>
#include <functional>
#include <limits>
#include <string>
#include <vector>

#include "base/json.hpp"
#include "machine/description.hpp"
#include "simulate/study/scenario.hpp"

namespace fairlead::simulate {

/// Several ratios of one policy to the first.
class Ratios {
 public:
  void add(double ratio);
  bool any() const noexcept { return count_ != 0; }
  /// The geometric mean: that of A to B is then one over that of B to A.
  double mean() const;
  double least() const noexcept { return least_; }
  double most() const noexcept { return most_; }
  std::string text() const;
  std::string range() const;

 private:
  double logarithms_ = 0, least_ = std::numeric_limits<double>::infinity(), most_ = 0;
  std::size_t count_ = 0;
};

/// The results of a policy over all runs.
struct PolicyRatios {
  std::string scheduler;
  Ratios time, bytes;
  double gflops = 0, percent = 0, loaded = 0;  ///< sums
  std::size_t finished = 0;
  std::string problem;  ///< of the first run that did not finish
  Json runs = Json::array();

  double mean(double sum) const { return sum / static_cast<double>(finished); }
};

struct PolicyComparison {
  std::vector<PolicyRatios> policies;
  std::string csv;       ///< one line for each size and policy
  bool devices = false;  ///< the machine has devices in use

  std::string table() const;
  Json json() const;
};

/// The sizes around n, in steps of a tile. Throws ConfigError if the smallest one is below 1.
std::vector<WorkloadSize> neighbouring_sizes(const WorkloadSize& middle, std::int64_t neighbours);

/// Runs `workload` in all sizes under all policies, with `seeds` seeds from that of the settings on. The policy that "auto"
/// selects for the first size is kept for all sizes. Calls on_size before the runs of each size.
PolicyComparison compare_policies(const std::string& workload, const std::vector<WorkloadSize>& sizes,
                                  const std::vector<std::string>& policies, std::uint64_t seeds,
                                  const machine::MachineDescription& machine, const Config& config,
                                  const std::function<void(const Scenario&)>& on_size);

}  // namespace fairlead::simulate
