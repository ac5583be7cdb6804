// A plan as text and as JSON.
#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <utility>

#include "config/value.hpp"
#include "report/run_report.hpp"
#include "report/units.hpp"
#include "solver/plan.hpp"

namespace fairlead::solver {

namespace {

using config::readable_size;
using report::moved_bytes;
using report::readable_seconds;
using report::with_commas;

std::string row(std::string_view name, std::string_view text) {
  return fmt::format("{:<16}{}\n", name, text);
}

std::string phases_text(const std::vector<linalg::SolvePhase>& phases, bool counts) {
  std::string text;
  for (const linalg::SolvePhase& phase : phases)
    if (phase.counts == counts)
      text += fmt::format("{}{} {}", text.empty() ? "" : ", ", phase.name, readable_seconds(phase.seconds));
  return text;
}

std::uint64_t count(std::int64_t number) { return static_cast<std::uint64_t>(number); }

}  // namespace

std::string time_text(const linalg::SolvePlan& plan) {
  return fmt::format("about {} ({} to {})", readable_seconds(plan.seconds),
                     readable_seconds(plan.least_seconds), readable_seconds(plan.most_seconds));
}

std::string text_of(const linalg::SolvePlan& plan) {
  std::string text =
      row("Method", plan.method_reason.empty()
                        ? std::string(name_of(plan.method))
                        : fmt::format("{}, since {}", name_of(plan.method), plan.method_reason));
  text += row("Matrix",
              fmt::format("{} x {} in {}{} precision, {} right-hand side{}", with_commas(count(plan.rows)),
                          with_commas(count(plan.columns)), is_complex(plan.precision) ? "complex " : "",
                          is_single(plan.precision) ? "single" : "double",
                          with_commas(count(plan.right_hand_sides)), plan.right_hand_sides == 1 ? "" : "s"));
  text += row("With", fmt::format("{} worker{}, tiles of {}", plan.workers, plan.workers == 1 ? "" : "s",
                                  with_commas(count(plan.tile))));
  text += row("Memory", fmt::format("{} at most; {} is the least, {} keeps all data in memory",
                                    readable_size(plan.memory), readable_size(plan.least_memory),
                                    readable_size(plan.in_core_memory)));
  text += row("Disk space", plan.disk_space == 0
                                ? "none: all data fit in memory"
                                : fmt::format("{} of {} free{}", moved_bytes(plan.disk_space),
                                              moved_bytes(plan.free_disk_space),
                                              plan.disk_space > plan.free_disk_space
                                                  ? ": the run would fail. Name a directory on a larger disk"
                                                    " by --disk-directory, or allow more memory"
                                                  : ""));
  text += row("Bytes", fmt::format("input {} read; spill file {} read, {} written, for checks {} read, {} "
                                   "written; output {} written",
                                   moved_bytes(plan.input_bytes), moved_bytes(plan.spill_bytes_read),
                                   moved_bytes(plan.spill_bytes_written), moved_bytes(plan.check_bytes_read),
                                   moved_bytes(plan.check_bytes_written), moved_bytes(plan.output_bytes)));
  text += row("Time", fmt::format("{}: {}", time_text(plan), phases_text(plan.phases, true)));
  if (const std::string checks = phases_text(plan.phases, false); !checks.empty())
    text += row("", fmt::format("of it {}", checks));
  std::string_view name = "Assumed";
  for (const std::string& assumption : plan.assumptions) text += row(std::exchange(name, ""), assumption);
  return text;
}

Json json_of(const linalg::SolvePlan& plan) {
  Json phases = Json::array(), assumptions = Json::array();
  for (const linalg::SolvePhase& phase : plan.phases)
    phases.add(Json::object({{"name", phase.name}, {"seconds", phase.seconds}, {"counts", phase.counts}}));
  for (const std::string& assumption : plan.assumptions) assumptions.add(Json(assumption));
  return Json::object({{"method", name_of(plan.method)},
                       {"method_reason", plan.method_reason},
                       {"rows", plan.rows},
                       {"columns", plan.columns},
                       {"right_hand_sides", plan.right_hand_sides},
                       {"element", report::element_name(plan.precision)},
                       {"tile", plan.tile},
                       {"workers", plan.workers},
                       {"memory_limit_bytes", plan.memory},
                       {"least_memory_bytes", plan.least_memory},
                       {"in_core_memory_bytes", plan.in_core_memory},
                       {"disk_space_bytes", plan.disk_space},
                       {"free_disk_space_bytes", plan.free_disk_space},
                       {"input_bytes_read", plan.input_bytes},
                       {"output_bytes_written", plan.output_bytes},
                       {"bytes_read", plan.spill_bytes_read},
                       {"bytes_written", plan.spill_bytes_written},
                       {"check_bytes_read", plan.check_bytes_read},
                       {"check_bytes_written", plan.check_bytes_written},
                       {"seconds", plan.seconds},
                       {"least_seconds", plan.least_seconds},
                       {"most_seconds", plan.most_seconds},
                       {"phases", std::move(phases)},
                       {"assumptions", std::move(assumptions)}});
}

}  // namespace fairlead::solver
