// The run of a solve or a factorization, which counts at its milestones.
#pragma once
#include <fairlead/config.hpp>
#include <fairlead/linalg.hpp>
#include <fairlead/ranks.hpp>

#include <array>
#include <cstddef>
#include <optional>

#include "fairlead/run/watched_run.hpp"
#include "solver/execution.hpp"
#include "solver/report/dense_report.hpp"

namespace fairlead::app {

class CountedRun final : public WatchedRun {
 public:
  CountedRun(const Config& config, Bytes reserved, const linalg::Kernels& kernels,
             solver::Front front = solver::Front::flow, const Rank& rank = {})
      : WatchedRun(config, reserved, kernels, front, rank), kernels_(kernels) {}

  void reached(solver::Milestone milestone) override {
    if (milestone == solver::Milestone::started && counters_[0]) return;  // of a later block of columns
    counters_[static_cast<std::size_t>(milestone)] = solver::counters_of(runtime(), kernels_);
  }
  const solver::RunCounters& at(solver::Milestone milestone) const {
    return *counters_[static_cast<std::size_t>(milestone)];
  }

 private:
  const linalg::Kernels kernels_;
  std::array<std::optional<solver::RunCounters>, 3> counters_;
};

}  // namespace fairlead::app
