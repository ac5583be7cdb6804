// Counts the verdicts of each paper.
#include "experiment/tally.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include "report/table_cells.hpp"

namespace fairlead::experiment {

namespace {

bool is_digit(char c) { return c >= '0' && c <= '9'; }

/// "Bramas 2019" from "Bramas 2019 (PeerJ), Figure 7"; the whole text if it has no year.
std::string_view without_section(std::string_view paper) {
  for (std::size_t at = 0; at + 4 <= paper.size(); ++at) {
    const bool begins = at == 0 || !is_digit(paper[at - 1]);
    const bool ends = at + 4 == paper.size() || !is_digit(paper[at + 4]);
    const std::string_view century = paper.substr(at, 2);
    if (begins && ends && (century == "19" || century == "20") &&
        std::ranges::all_of(paper.substr(at, 4), is_digit))
      return paper.substr(0, at + 4);
  }
  return paper;
}

void count(PaperTally& paper, VerdictCounts& counts, Verdict verdict) {
  counts.reproduced += verdict == Verdict::reproduced;
  counts.differs += verdict == Verdict::differs;
  counts.missing += verdict == Verdict::missing;
  paper.inputs += verdict == Verdict::input;
  paper.duplicates += verdict == Verdict::duplicate;
  paper.ties += verdict == Verdict::tie;
  paper.variants += verdict == Verdict::variant;
}

std::string tally_row(const PaperTally& one, std::string_view mark) {
  std::string out = fmt::format("| {0}{1}{0} |", mark, report::markdown_cell(one.paper));
  for (const std::size_t number :
       {one.claims.reproduced, one.claims.differs, one.claims.missing, one.values.reproduced,
        one.values.differs, one.values.missing, one.inputs, one.duplicates, one.ties, one.variants})
    out += fmt::format(" {0}{1}{0} |", mark, number);
  return out + "\n";
}

void add_up(VerdictCounts& sum, const VerdictCounts& more) {
  sum.reproduced += more.reproduced;
  sum.differs += more.differs;
  sum.missing += more.missing;
}

}  // namespace

std::vector<PaperTally> tally_of(std::span<const ExperimentOutcome> all) {
  std::vector<PaperTally> tallies;
  for (const ExperimentOutcome& outcome : all) {
    if (outcome.experiment->claims.empty() && outcome.experiment->paper_values.empty()) continue;
    const std::string paper(without_section(outcome.experiment->paper));
    auto found = std::ranges::find(tallies, paper, &PaperTally::paper);
    if (found == tallies.end()) {
      tallies.push_back({.paper = paper, .claims = {}, .values = {}});
      found = tallies.end() - 1;
    }
    for (const ClaimVerdict& one : judge_claims(*outcome.experiment, outcome.table))
      count(*found, found->claims, one.verdict);
    for (const ValueVerdict& one : judge_values(*outcome.experiment, outcome.table))
      count(*found, found->values, one.verdict);
  }
  return tallies;
}

std::string tally(std::span<const ExperimentOutcome> all) {
  const std::vector<PaperTally> tallies = tally_of(all);
  if (tallies.empty()) return "";
  std::string out =
      "### tally: how much of each paper comes out\n\n"
      "A claim counts as reproduced where it holds at every point that it names, a value where it is as near "
      "as was fixed beforehand. The last four columns are no evidence and are not among the others. *Input*: "
      "an assumption of the experiment was chosen by that value, or implies the claim. *Duplicate*: it holds "
      "by "
      "the figures by which another one holds. *Tie*: it holds by less than the simulation resolves. "
      "*Variant*: the paper did not run it, or not so.\n\n"
      "| | claims reproduced | claims that differ | claims missing | values reproduced | values that differ "
      "| values missing | input | duplicate | tie | variant "
      "|\n|---|---|---|---|---|---|---|---|---|---|---|\n";
  PaperTally sum{.paper = "all", .claims = {}, .values = {}};
  for (const PaperTally& one : tallies) {
    out += tally_row(one, "");
    add_up(sum.claims, one.claims);
    add_up(sum.values, one.values);
    sum.inputs += one.inputs;
    sum.duplicates += one.duplicates;
    sum.ties += one.ties;
    sum.variants += one.variants;
  }
  return out + tally_row(sum, "**") + "\n";
}

}  // namespace fairlead::experiment
