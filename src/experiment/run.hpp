// Executes the simulated runs of an experiment, and computes the figures of each.
#pragma once
#include <atomic>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "experiment/experiment.hpp"
#include "machine/description.hpp"
#include "report/comparison.hpp"
#include "simulate/advice.hpp"
#include "simulate/machine.hpp"
#include "simulate/program.hpp"

namespace fairlead::experiment {

/// The results of one run.
struct Figures {
  bool finished = false;
  std::string problem;
  double seconds = 0, gflops = 0, percent_of_peak = 0;
  double gigabytes_to_devices = 0, gigabytes_from_devices = 0, gigabytes_between_devices = 0,
         gigabytes_from_disk = 0;
  double percent_of_gemm_peak = 0, gigabytes_sent = 0;
  double bus_limit_gigabytes = 0, lower_bound_gigabytes = 0, floor_gigabytes = 0;  ///< 0: unknown
  double best_gflops = 0;           ///< of all processors at their best rates
  double critical_path_gflops = 0;  ///< bound by the critical path

  double of(Metric metric) const noexcept;
};

/// The numeric figures by name, in the order of the cache files.
struct NamedFigure {
  std::string_view name;
  double Figures::*figure;
};
inline constexpr NamedFigure all_figures[] = {
    {"seconds", &Figures::seconds},
    {"gflops", &Figures::gflops},
    {"percent_of_peak", &Figures::percent_of_peak},
    {"gigabytes_to_devices", &Figures::gigabytes_to_devices},
    {"gigabytes_from_devices", &Figures::gigabytes_from_devices},
    {"gigabytes_between_devices", &Figures::gigabytes_between_devices},
    {"gigabytes_from_disk", &Figures::gigabytes_from_disk},
    {"percent_of_gemm_peak", &Figures::percent_of_gemm_peak},
    {"gigabytes_sent", &Figures::gigabytes_sent},
    {"bus_limit_gigabytes", &Figures::bus_limit_gigabytes},
    {"lower_bound_gigabytes", &Figures::lower_bound_gigabytes},
    {"floor_gigabytes", &Figures::floor_gigabytes},
    {"best_gflops", &Figures::best_gflops},
    {"critical_path_gflops", &Figures::critical_path_gflops},
};

/// By RunSpec::text().
using Results = std::map<std::string, Figures>;

/// The part of the machine that the run uses, and its advice for placing tiles. Both throw ConfigError.
simulate::MachineConfig use_of(const RunSpec& spec, const machine::MachineDescription& machine);
simulate::Advice advice_of(const RunSpec& spec);

/// Executes one run in this thread. Throws backend::SimulationStopped once another thread sets
/// `stop_requested`.
Figures run(const RunSpec& spec, const std::atomic<bool>* stop_requested = nullptr);
/// As run(), on several ranks.
Figures run_on_ranks(const RunSpec& spec, const std::atomic<bool>* stop_requested);
/// `gflops` in per cent of the rate of `cores` cores that all multiply large matrices. 0 without cores or
/// without a GEMM rate.
double percent_of_gemm_peak(const machine::MachineDescription& machine, std::size_t cores,
                            simulate::Precision precision, double gflops) noexcept;

/// Every line at this x, with the order of its tasks, for an HTML page. The lines have the same machine and
/// workload. `stop_requested` as in run().
report::Comparison side_by_side(const Experiment& experiment, double x,
                                const std::atomic<bool>* stop_requested = nullptr);

/// The runs whose mean is one point: by seed, the runs around x. `quick`: only the first seed, and only x.
std::vector<std::vector<RunSpec>> runs_at(const Experiment& experiment, const Line& line, double x,
                                          bool quick);
/// All runs of the experiment; `quick`: only those of its quick values.
std::vector<RunSpec> runs_of(const Experiment& experiment, bool quick);

}  // namespace fairlead::experiment
