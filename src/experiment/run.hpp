// Running what experiments ask for: the runs of an experiment, and the figures of each.
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

/// What is kept of a run.
struct Figures {
  bool finished = false;
  std::string problem;
  double seconds = 0, gflops = 0, percent_of_peak = 0;
  double gigabytes_to_devices = 0, gigabytes_from_devices = 0, gigabytes_between_devices = 0,
         gigabytes_from_disk = 0;
  double percent_of_gemm_peak = 0, gigabytes_sent = 0;
  double bus_limit_gigabytes = 0, lower_bound_gigabytes = 0, floor_gigabytes = 0;  ///< 0: not known
  double best_gflops = 0;           ///< that all processors could do
  double critical_path_gflops = 0;  ///< what the longest chain of tasks allows

  double of(Metric metric) const noexcept;
};

/// Those that are numbers, by name, in the order in which they are kept.
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

/// Which part of the machine it uses, and where it would have its tiles. Both throw ConfigError.
simulate::MachineConfig use_of(const RunSpec& spec, const machine::MachineDescription& machine);
simulate::Advice advice_of(const RunSpec& spec);

/// One run in this thread. `stop_requested`, which another thread may set: backend::SimulationStopped is thrown then.
Figures run(const RunSpec& spec, const std::atomic<bool>* stop_requested = nullptr);
/// The same on several ranks.
Figures run_on_ranks(const RunSpec& spec, const std::atomic<bool>* stop_requested);
/// Of so many cores that all multiply large matrices at once. 0 if there are none, or they do not multiply.
double percent_of_gemm_peak(const machine::MachineDescription& machine, std::size_t cores,
                            simulate::Precision precision, double gflops) noexcept;

/// Every line at this x, with the order in which its tasks ran, for a page. The lines have the same machine
/// and workload. `stop_requested` as in run().
report::Comparison side_by_side(const Experiment& experiment, double x,
                                const std::atomic<bool>* stop_requested = nullptr);

/// The runs whose mean is a point: by seed, those around x. `quick`: with the first seed, at x alone.
std::vector<std::vector<RunSpec>> runs_at(const Experiment& experiment, const Line& line, double x,
                                          bool quick);
/// Every run that the experiment needs; `quick`: of its quick values only.
std::vector<RunSpec> runs_of(const Experiment& experiment, bool quick);

}  // namespace fairlead::experiment
