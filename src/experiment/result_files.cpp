// See result_files.hpp.
#include "experiment/result_files.hpp"

#include <fmt/format.h>
#include <fairlead/error.hpp>

#include <cerrno>
#include <filesystem>
#include <system_error>

#include "base/file_descriptor.hpp"
#include "experiment/ablations.hpp"
#include "experiment/judged.hpp"
#include "experiment/output_formats.hpp"
#include "experiment/run.hpp"
#include "report/html/page.hpp"
#include "report/report_file.hpp"

namespace fairlead::experiment {

void make_output_directory(const std::string& path) {
  std::error_code error;
  std::filesystem::create_directories(path, error);
  if (error) throw ConfigError(fmt::format("cannot make the directory {}: {}", path, error.message()));
}

std::vector<std::string> write_results(const std::string& directory, const Experiment& experiment,
                                       const Table& table, bool quick,
                                       const std::atomic<bool>& stop_requested) {
  const std::string folder = directory + "/" + experiment.name;
  make_output_directory(folder);
  report::write_file(folder + "/figures.csv", csv(experiment, table));
  report::write_file(folder + "/verdicts.json", json(experiment, table));
  for (const auto& [name, picture] : pictures(experiment, table))
    report::write_file(fmt::format("{}/{}.svg", folder, name), picture);
  std::vector<std::string> pages;
  if (experiment.page)  // for each x, with the runs side by side
    for (const double x : quick ? experiment.quick_values : experiment.values) {
      pages.push_back(fmt::format("{}/{}-{}.html", folder, experiment.sweep, x));
      report::write_file(pages.back(),
                         report::comparison_page(side_by_side(experiment, x, &stop_requested), {}));
    }
  return pages;
}

std::vector<ExperimentSummary> summaries(std::span<const ExperimentOutcome> outcomes) {
  std::vector<ExperimentSummary> found;
  if (std::string text = overview(outcomes); !text.empty())
    found.push_back({"overview.csv", std::move(text), overview_csv(outcomes), false});
  if (std::string text = judged(outcomes); !text.empty())
    found.push_back({"judged.csv", std::move(text), judged_csv(outcomes), true});
  if (std::string text = ablations(outcomes); !text.empty())
    found.push_back({"ablations.csv", std::move(text), ablations_csv(outcomes), true});
  return found;
}

namespace {
constexpr std::string_view begin_mark = "<!-- experiments: made by fairlead experiment run -->\n",
                           end_mark = "<!-- end of experiments -->";
}

MarkedPage::MarkedPage(const std::string& path) : path_(path) {
  const auto content = read_file(path);
  if (!content)
    throw ConfigError(
        fmt::format("cannot read the page {}: {}", path, std::generic_category().message(errno)));
  const std::string& page = *content;
  const std::size_t from = page.find(begin_mark), to = page.find(end_mark);
  if (from == page.npos || to == page.npos || to < from)
    throw ConfigError(fmt::format("{} lacks the two marker lines \"{}\" and \"{}\"", path,
                                  begin_mark.substr(0, begin_mark.size() - 1), end_mark));
  before_ = page.substr(0, from + begin_mark.size());
  after_ = page.substr(to);
}

void MarkedPage::write(const std::string& sections) const {
  report::write_file(path_, before_ + "\n" + sections + after_);
}

}  // namespace fairlead::experiment
