// A published figure or table as one file describes it: what was run, on which machine, what the paper found,
// and what has to hold for it to count as reproduced. docs/experiments.md has the format.
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

/// What is measured of a run.
enum class Metric : std::uint8_t {
  seconds,
  gflops,
  percent_of_peak,
  gigabytes_to_devices,
  gigabytes_from_devices,
  gigabytes_between_devices,
  gigabytes_moved,  ///< of the three
  gigabytes_from_disk,
  percent_of_gemm_peak,  ///< of what all cores do that multiply large matrices at once
  gigabytes_sent,        ///< between ranks: values
};
std::string_view name_of(Metric metric) noexcept;
std::string_view unit_of(Metric metric) noexcept;
/// Whether more of it is better.
bool more_is_better(Metric metric) noexcept;

/// One simulated run, said completely: runs of equal text are one run.
struct RunSpec {
  std::string machine, workload, precision, scheduler, memory, host_memory, data, advice, priorities,
      memory_model, peers, slow, misjudged;
  std::int64_t n = 0, tile = 0;
  std::optional<std::size_t> gpus, cores;
  std::optional<unsigned> streams;
  std::uint64_t seed = 1;
  double device_gigabytes_per_second = 0;  ///< 0: as the machine has it
  unsigned noise_percent = 0, pipeline_depth = 0;
  std::uint32_t ranks = 0;  ///< 0: on one node, as a flow
  std::string grid;         ///< of them; empty: the squarest
  std::size_t ranks_per_node = 1;
  std::string receive_into;  ///< as front::ReceivePlacement
  std::string eager_limit;   ///< empty: all values are asked for
  /// What the machine's file says times this.
  double network_bandwidth_times = 1, network_latency_times = 1, panel_rates_times = 1;

  std::string text() const;
};

/// One line of a figure, or column of a table.
struct Line {
  std::string label;  ///< as the paper calls it
  std::string scheduler;
  std::map<std::string, std::string> other;  ///< what it changes of the experiment's settings
  std::string note;                          ///< what a variant differs in
  bool variant = false;                      ///< the paper did not run it, or not so: it is in no tally
};

/// A value that the paper prints.
struct PaperValue {
  std::string line;
  std::optional<double> x;  ///< nothing: the last
  Metric metric{};
  double value = 0;
  double within = 0;   ///< what counts as reproduced, relative
  bool input = false;  ///< something of the experiment was chosen by it, as `note` states: it proves nothing
  std::string
      duplicate;  ///< the value or claim with which it shares its run; empty if it has a run of its own
  std::string note;
};

/// Something the paper says that is either so or not.
enum class Check : std::uint8_t {
  best,   ///< `line` is better than all of `others` by `factor` at least
  worst,  ///< likewise worse
  below,  ///< its metric is below that of all `others`, or, as theirs, below `bound`, times `factor`
  above,
  near,     ///< within `factor` (relative) of each of `others`
  between,  ///< the ratio to each of `others`, or to `bound`, lies between the two `limits`
  changes,  ///< from the first x of `at` to the last, its metric changes by a factor between the two `limits`
};
struct Claim {
  std::string text;  ///< as the paper says it, or nearly
  Check check{};
  Metric metric{};
  std::string line;
  std::vector<std::string> others;  ///< empty: all other lines except variants; none if there is a bound
  std::string bound;                ///< "bus limit", "lower bound", "floor", "peak"; else empty
  std::vector<double> at;           ///< of the sweep; empty: everywhere
  double factor = 1;
  double limits[2] = {0, 0};
  std::string reason;  ///< why it does not hold here, as found in a trace; for the page
  std::string input;   ///< the assumption from which it follows, whatever the simulation does; empty if none
  std::string
      duplicate;  ///< the value or claim with which it shares its run; empty if it has a run of its own
};

struct Experiment {
  std::string name;               ///< "darts/fig-5"
  std::vector<std::string> also;  ///< other names: "darts/table-1" is the last point of the figure
  std::string title, paper, notes;
  std::map<std::string, std::string> settings;  ///< machine, workload, ... as in RunSpec
  std::string sweep;                            ///< "tiles", "n", "gpus", ...: which setting x is
  std::vector<double> values, quick_values;
  std::uint64_t seeds = 1;     ///< and over so many runs, with the seeds from 1
  std::vector<double> around;  ///< each point is the mean over x + these; {0} if nothing is said
  bool every_policy = false;   ///< they are lines, too, and the experiment is a row of the overview
  std::string judged;          ///< a policy that is compared with all published ones, which are lines, too
  std::string
      over;  ///< a folder: its lines are run at every point of those there that are judged; see laid_out()
  bool variant = false;  ///< all of it is beyond the paper, each line
  std::vector<Line> lines;
  std::vector<Metric> metrics;  ///< one picture each
  bool page = false;            ///< and for each x a page with the order in which tasks ran
  std::vector<PaperValue> paper_values;
  std::vector<Claim> claims;
};

/// Whether a line of that label is a variant. "bus limit" is no line: it is one if all are.
bool is_variant(const Experiment& experiment, std::string_view label);
/// Whether a claim is about one, or compares with one.
bool is_variant(const Experiment& experiment, const Claim& claim);

/// Those that come with Fairlead, by name: "darts/fig-5".
std::span<const EmbeddedFile> experiment_files();

/// Throws ConfigError naming file, line, key, and what would be right. `file`: for messages; unless given,
/// where those are that come with Fairlead.
Experiment read_experiment(std::string_view name, std::string_view text, std::string file = {});
/// Those that a name means: one, all of a folder ("darts"), all panels of a figure ("placement/fig-2"), "all", or the
/// file of one's own (*.toml). Throws ConfigError if there is none.
std::vector<Experiment> find_experiments(std::string_view name);

/// Each as it is, but for those `over` a folder: such a one becomes many, one for each that it is over, with its
/// own lines.
std::vector<Experiment> laid_out(std::span<const Experiment> found);

/// The run of one line at one x, with the first seed. Throws ConfigError for a setting that there is not.
RunSpec run_of(const Experiment& experiment, const Line& line, double x);

}  // namespace fairlead::experiment
