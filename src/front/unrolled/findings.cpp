// Titles of findings, and their text.
#include "front/unrolled/findings.hpp"

#include <fmt/format.h>

namespace fairlead::unrolled {

std::string_view title(Kind kind) noexcept {
  switch (kind) {
    case Kind::no_task:
      return "there is no task";
    case Kind::duplicate_task:
      return "duplicate tasks";
    case Kind::one_sided:
      return "edges stated at one end only";
    case Kind::missing_producer:
      return "inputs from tasks or values that do not exist";
    case Kind::no_input:
      return "flows without an input";
    case Kind::duplicate_output:
      return "duplicate outputs";
    case Kind::two_writers:
      return "values with two writers";
    case Kind::reads_own_overwrite:
      return "tasks that read a value that they also change";
    case Kind::cycle:
      return "cycles";
    case Kind::unordered_writes:
      return "data written by two tasks in no order";
    case Kind::race:
      return "data read and written in no order";
    case Kind::on_another_rank:
      return "data read from another rank";
    case Kind::out_of_bounds:
      return "data outside their matrix";
    case Kind::never_written:
      return "NEW values that are read before they are written";
    case Kind::lost_result:
      return "results without an output";
    case Kind::dead_end:
      return "outputs to tasks that do not exist";
    case Kind::shadowed_input:
      return "inputs after another that applies";
    case Kind::not_checked:
      return "checks that were skipped";
  }
  return {};
}

bool is_error(Kind kind) noexcept { return kind < Kind::dead_end; }

void Findings::add(Kind kind, std::string text) {
  if (needs_text(kind)) texts_[index(kind)].push_back(std::move(text));
  count(kind);
}

std::size_t Findings::errors() const noexcept {
  std::size_t out = 0;
  for (std::size_t i = 0; i < kind_count; ++i)
    if (is_error(static_cast<Kind>(i))) out += counts_[i];
  return out;
}

std::string Findings::text() const {
  std::string out;
  for (std::size_t i = 0; i < kind_count; ++i) {
    const Kind kind = static_cast<Kind>(i);
    if (counts_[i] == 0) continue;
    const char* const weight = is_error(kind) ? "error" : kind == Kind::not_checked ? "note" : "warning";
    out += fmt::format("{}: {}: {}\n", weight, title(kind), counts_[i]);
    for (const std::string& text : texts_[i]) out += fmt::format("  {}\n", text);
    if (counts_[i] > texts_[i].size()) out += fmt::format("  and {} more\n", counts_[i] - texts_[i].size());
  }
  return out;
}

}  // namespace fairlead::unrolled
