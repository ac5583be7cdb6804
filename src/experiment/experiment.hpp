// A published figure or table: the simulated runs, the machine, the values of the paper, and the conditions
// under which they count as reproduced. One TOML file per experiment; docs/experiments.md describes the
// format.
#pragma once
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/embedded_file.hpp"

namespace fairlead::experiment {

/// A measured quantity of a run.
enum class Metric : std::uint8_t {
  seconds,
  gflops,
  percent_of_peak,
  gigabytes_to_devices,
  gigabytes_from_devices,
  gigabytes_between_devices,
  gigabytes_moved,  ///< sum of the three above
  gigabytes_from_disk,
  percent_of_gemm_peak,  ///< of the rate of all cores that multiply large matrices
  gigabytes_sent,        ///< values sent between ranks
};
std::string_view name_of(Metric metric) noexcept;
std::string_view unit_of(Metric metric) noexcept;
/// True if a larger value is better.
bool more_is_better(Metric metric) noexcept;

/// The complete specification of one simulated run. Runs with equal text() are the same run.
struct RunSpec {
  std::string machine, workload, precision, scheduler, memory, host_memory, data, advice, priorities,
      memory_model, peers, slow, misjudged;
  std::int64_t n = 0, tile = 0;
  std::optional<std::size_t> gpus, cores;
  std::optional<unsigned> streams;
  std::uint64_t seed = 1;
  double device_gigabytes_per_second = 0;  ///< 0: that of the machine
  unsigned noise_percent = 0, pipeline_depth = 0;
  std::uint32_t ranks = 0;  ///< 0: on one node, as a flow
  std::string grid;         ///< of ranks; empty: as square as possible
  std::size_t ranks_per_node = 1;
  std::string receive_into;  ///< as front::ReceivePlacement
  std::string eager_limit;   ///< empty: all values are sent on request
  /// Factors on the values of the machine file.
  double network_bandwidth_times = 1, network_latency_times = 1, panel_rates_times = 1;

  std::string text() const;
};

/// One line of a figure, or column of a table.
struct Line {
  std::string label;  ///< as in the paper
  std::string scheduler;
  std::map<std::string, std::string> other;  ///< settings that override those of the experiment
  std::string note;                          ///< how a variant differs
  bool variant = false;                      ///< the paper did not run it in this form: not counted
};

/// A value that the paper prints.
struct PaperValue {
  std::string line;
  std::optional<double> x;  ///< nothing: the last x
  Metric metric{};
  double value = 0;
  double within = 0;  ///< relative tolerance for `reproduced`
  bool input =
      false;  ///< it determined an assumption of the experiment (see `note`), so agreement proves nothing
  std::string
      duplicate;  ///< the value or claim with which it shares its run; empty if it has a run of its own
  std::string note;
};

/// The form of a claim of the paper that either holds or does not.
enum class Check : std::uint8_t {
  best,   ///< `line` is better than each of `others` by at least `factor`
  worst,  ///< `line` is worse than each of `others` by at least `factor`
  /// Its metric is below `factor` times that of each of `others`. With a `bound`: the metrics of `line` and
  /// of `others` are below `factor` times the bound.
  below,
  above,    ///< likewise above
  near,     ///< within `factor` (relative) of each of `others`
  between,  ///< the ratio to each of `others`, or to `bound`, lies between the two `limits`
  changes,  ///< from the first x of `at` to the last, its metric changes by a factor between the two `limits`
};
struct Claim {
  std::string text;  ///< as in the paper, or nearly
  Check check{};
  Metric metric{};
  std::string line;
  std::vector<std::string> others;  ///< empty: all other lines except variants; none if there is a bound
  std::string bound;                ///< "bus limit", "lower bound", "floor", "peak", or empty
  std::vector<double> at;           ///< values of the sweep; empty: all
  double factor = 1;
  double limits[2] = {0, 0};
  std::string reason;  ///< why it does not hold in the simulation, as found in a trace; for the page
  std::string input;   ///< the assumption that implies it, independently of the simulation; empty if none
  std::string
      duplicate;  ///< the value or claim with which it shares its run; empty if it has a run of its own
};

struct Experiment {
  std::string name;               ///< "darts/fig-5"
  std::vector<std::string> also;  ///< other names: "darts/table-1" is the last point of the figure
  std::string title, paper, notes;
  std::map<std::string, std::string> settings;  ///< machine, workload, ... as in RunSpec
  std::string sweep;                            ///< the setting that x stands for: "tiles", "n", "gpus", ...
  std::vector<double> values, quick_values;
  std::uint64_t seeds = 1;     ///< number of runs per x, with the seeds from 1
  std::vector<double> around;  ///< each point is the mean over x + these; {0} by default
  bool every_policy = false;   ///< all policies are lines, too, and the experiment is a row of the overview
  std::string judged;  ///< a policy that is compared with all published policies, which are lines, too
  std::string
      over;  ///< a folder: the lines run at every point of its experiments that have `judged`; see laid_out()
  bool variant = false;  ///< every line goes beyond the paper
  std::vector<Line> lines;
  std::vector<Metric> metrics;  ///< one picture each
  bool page = false;            ///< also writes, for each x, a page with the order of the tasks
  std::vector<PaperValue> paper_values;
  std::vector<Claim> claims;
};

/// True if the line with this label is a variant. A label that is not a line, such as "bus limit", is one if
/// the experiment is.
bool is_variant(const Experiment& experiment, std::string_view label);
/// True if a claim is about a variant, or compares with one.
bool is_variant(const Experiment& experiment, const Claim& claim);

/// The built-in experiments by name: "darts/fig-5".
std::span<const EmbeddedFile> experiment_files();

/// Throws ConfigError with file, line, key and the valid values. `file`: for messages; the default is the
/// file of a built-in experiment.
Experiment read_experiment(std::string_view name, std::string_view text, std::string file = {});
/// The experiments that a name selects: one experiment, a folder ("darts"), all panels of a figure
/// ("placement/fig-2"), "all", or a file of the user (*.toml). Throws ConfigError if there are none.
std::vector<Experiment> find_experiments(std::string_view name);

/// Replaces each experiment that is `over` a folder by one per experiment of that folder, with its own lines.
/// Returns the others unchanged.
std::vector<Experiment> laid_out(std::span<const Experiment> found);

/// The run of one line at one x, with the first seed. Throws ConfigError for an unknown or invalid setting.
RunSpec run_of(const Experiment& experiment, const Line& line, double x);

}  // namespace fairlead::experiment
