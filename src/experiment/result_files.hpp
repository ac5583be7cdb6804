// The files of results: tables, verdicts, pictures and pages of each experiment, tables over several of them, and a page of
// the manual into which they are inserted.
#pragma once
#include <atomic>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "experiment/experiment.hpp"
#include "experiment/overview.hpp"
#include "experiment/verdict.hpp"

namespace fairlead::experiment {

/// Throws ConfigError if it cannot be made.
void make_output_directory(const std::string& path);

/// Writes the files of one experiment into a folder of its name. Pages need further runs, which `stop_requested` ends.
/// Returns the paths of the pages.
std::vector<std::string> write_results(const std::string& directory, const Experiment& experiment,
                                       const Table& table, bool quick,
                                       const std::atomic<bool>& stop_requested);

/// A table over several experiments.
struct ExperimentSummary {
  std::string_view file;  ///< of its CSV
  std::string markdown, csv;
  bool is_text = false;  ///< its Markdown is also readable on a terminal
};
/// Those that these outcomes have.
std::vector<ExperimentSummary> summaries(std::span<const ExperimentOutcome> outcomes);

/// A page with two marker lines, between which the results are inserted.
class MarkedPage {
 public:
  /// Throws ConfigError if the page cannot be read, or lacks the lines.
  explicit MarkedPage(const std::string& path);
  void write(const std::string& sections) const;

 private:
  std::string path_, before_, after_;
};

}  // namespace fairlead::experiment
