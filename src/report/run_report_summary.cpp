// The short report at the end of a run.
#include <fmt/format.h>

#include "config/value.hpp"
#include "report/run_report.hpp"
#include "report/text_page.hpp"
#include "report/units.hpp"

namespace fairlead::report {

namespace {

using config::readable_size;

void what(TextPage& page, const RunReport& report) {
  const char* const precision = report.element.ends_with("FP32") ? "single" : "double";
  const char* const numbers = report.element.starts_with("complex") ? " of complex numbers" : "";
  page.parts(report.solution.empty() ? "Computed" : "Solved",
             {report.of.empty() ? report.operation : fmt::format("{}: {}", report.of, report.operation),
              fmt::format("{}{} in {} precision", size_text(report), numbers, precision)},
             ", ");
  if (!report.method_reason.empty())
    page.row("Method", fmt::format("{}, since {}", report.method, report.method_reason));
  page.parts(
      "With",
      {report.ranks.empty() ? "" : fmt::format("{} ranks ({}), each", report.ranks.size(), report.grid),
       fmt::format("{} worker{}", report.workers, report.workers == 1 ? "" : "s"),
       fmt::format("{} of memory at most, {} used", readable_size(report.memory_limit_bytes),
                   readable_size(report.peak_memory_bytes)),
       fmt::format("tiles of {}", with_commas(report.tile)), "scheduler " + scheduler_text(report)},
      ", ");
  if (!report.devices.empty() && !report.devices.starts_with(no_devices_looked_for) &&
      !report.devices.starts_with(no_devices_there))
    page.row("Devices", devices_text(report));
}

/// The known error measures, one line each.
void how_well(TextPage& page, const RunReport& report) {
  if (!report.backward_error) return;
  page.parts("Accuracy",
             {fmt::format("backward error {:.1e}:", *report.backward_error),
              report.solution.empty() ? "exact for numbers that differ from those given by that part"
              : report.rounded_in_file
                  ? fmt::format("before it was rounded by {:.1e} to the single precision of its "
                                "file, x was exact for numbers that differ from yours by that part",
                                *report.rounded_in_file)
                  : "x is exact for numbers that differ from yours by that part",
              report.refinement_steps ? fmt::format("({} step{} of refinement)", *report.refinement_steps,
                                                    *report.refinement_steps == 1 ? "" : "s")
                                      : ""},
             " ");
  if (report.asymmetry)
    page.row("Symmetry",
             fmt::format("the triangles of A differ by rounding, up to {:.1e}: x is refined and judged with "
                         "A as it is",
                         *report.asymmetry));
  if (const auto& condition = report.condition)
    page.parts("Trust",
               {fmt::format("{} digit{} of x:", condition->digits, condition->digits == 1 ? "" : "s"),
                fmt::format("{} (condition {:.1e}, {} norm)",
                            condition->digits == 0
                                ? std::string("no bound of its error is below its size")
                                : fmt::format("{} is off by at most {:.1e} of its largest component",
                                              condition->columns > 1 ? "each column" : "it",
                                              condition->forward_error),
                            condition->number, condition->is_exact ? "two" : "infinity")},
               " ");
  if (report.growth)
    page.row("Growth", fmt::format("the largest element of U is {:.3g} times that of A", *report.growth));
  if (report.numerical_rank && report.numerical_rank->is_reduced())
    page.row("Rank", text_of(*report.numerical_rank));
  if (report.residual) page.row("Residual", text_of(*report.residual, is_rank_reduced(report)));
}

void how_long(TextPage& page, const RunReport& report) {
  page.parts("Time", times(report), "");
  page.row("Speed",
           fmt::format("{:.1f} GFlop/s{}", report.gflops,
                       report.ceiling_gflops ? fmt::format(", {} of what these kernels allow, {:.1f}",
                                                           percent(report.gflops, *report.ceiling_gflops),
                                                           *report.ceiling_gflops)
                                             : ""));
  if (report.limiting) page.parts("Limited by", sentences(*report.limiting, true), "; ");
}

void what_moved(TextPage& page, const RunReport& report) {
  const Bytes both = report.bytes_read + report.bytes_written;
  std::vector<std::string> parts;
  if (both == 0) {
    parts.emplace_back("nothing: all of it fitted in memory");
  } else {
    parts.push_back(fmt::format("{} read, {} written", moved_bytes(report.bytes_read),
                                moved_bytes(report.bytes_written)));
    if (const auto times = report.ratio_to_floor())
      parts.push_back(fmt::format("{:.2f} times the least that is known to suffice", *times));
  }
  // Repeated reads for residuals, and reads of a block together with the gaps in it.
  if (report.input_bytes_read > report.input_bytes)
    parts.push_back(fmt::format("{} read from the matrix's file of {}", moved_bytes(report.input_bytes_read),
                                moved_bytes(report.input_bytes)));
  page.parts("Disk", parts, "; ");
  for (const NodeReport& node : report.nodes)
    if (!node.lost.empty())
      page.row("Lost",
               fmt::format("{}: {}; what was not lost with it was computed elsewhere", node.name, node.lost));
  if (report.ranks.empty()) return;
  RankReport all;
  for (const RankReport& rank : report.ranks) {
    all.messages += rank.messages;
    all.payloads += rank.payloads;
    all.payload_bytes += rank.payload_bytes;
    all.payloads_read += rank.payloads_read;
    all.payload_bytes_read += rank.payload_bytes_read;
    all.payloads_into_devices += rank.payloads_into_devices;
    all.payload_bytes_into_devices += rank.payload_bytes_into_devices;
  }
  page.row("Between ranks", fmt::format("{} in {} values, {} messages", moved_bytes(all.payload_bytes),
                                        with_commas(all.payloads), with_commas(all.messages)));
  if (all.payloads_read != 0)
    page.row("", fmt::format("{} of that in {} values read where they were",
                             moved_bytes(all.payload_bytes_read), with_commas(all.payloads_read)));
  if (!report.no_direct_read_reason.empty()) page.row("", report.no_direct_read_reason);
  if (all.payloads_into_devices != 0)
    page.row(
        "", fmt::format("{} of that in {} values landed in the memory of devices",
                        moved_bytes(all.payload_bytes_into_devices), with_commas(all.payloads_into_devices)));
}

}  // namespace

std::string size_text(const RunReport& report) {
  return report.m == 0 ? fmt::format("n = {}", with_commas(report.n))
                       : fmt::format("{} x {}", with_commas(report.m), with_commas(report.n));
}

std::string summary(const RunReport& report) {
  TextPage page;
  what(page, report);
  how_well(page, report);
  how_long(page, report);
  what_moved(page, report);
  if (!report.solution.empty()) page.row("Solution", report.solution);
  return page.take();
}

}  // namespace fairlead::report
