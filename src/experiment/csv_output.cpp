// Writes one CSV row per line and x, with all figures. Columns for the range over seeds follow if there are
// several.
#include <fmt/format.h>

#include <algorithm>

#include "experiment/output_formats.hpp"
#include "experiment/output_numbers.hpp"
#include "report/table_cells.hpp"

namespace fairlead::experiment {

std::string csv(const Experiment& experiment, const Table& table) {
  std::string out = fmt::format(
      "line,{},seconds,gflops,percent_of_peak,gigabytes_to_devices,gigabytes_from_devices,gigabytes_between_"
      "devices,"
      "gigabytes_from_disk,bus_limit_gigabytes,lower_bound_gigabytes,floor_gigabytes,percent_of_gemm_peak,"
      "gigabytes_sent,best_gflops",
      experiment.sweep);
  const bool ranges = std::ranges::any_of(table.series, several_seeds);
  for (const Metric metric : experiment.metrics)
    if (ranges) out += fmt::format(",least_{0},most_{0}", name_of(metric));
  out += "\n";
  for (const Series& series : table.series)
    for (std::size_t at = 0; at < table.x.size(); ++at) {
      if (!series.points[at]) continue;
      const Figures& f = *series.points[at];
      out += fmt::format(
          "{},{:g},{},{},{},{},{},{},{},{},{},{},{},{},{}", report::csv_cell(series.label, true), table.x[at],
          f.seconds, f.gflops, f.percent_of_peak, f.gigabytes_to_devices, f.gigabytes_from_devices,
          f.gigabytes_between_devices, f.gigabytes_from_disk, f.bus_limit_gigabytes, f.lower_bound_gigabytes,
          f.floor_gigabytes, f.percent_of_gemm_peak, f.gigabytes_sent, f.best_gflops);
      for (const Metric metric : experiment.metrics)
        if (const auto range = series.range(at, metric))
          out += fmt::format(",{},{}", range->least, range->most);
      out += "\n";
    }
  return out;
}

}  // namespace fairlead::experiment
