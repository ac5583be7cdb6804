// Counting verdicts, by paper.
#include "experiment/tally.hpp"

#include <gmock/gmock.h>

#include <string>
#include <vector>

namespace fairlead::experiment {
namespace {

using testing::HasSubstr;

/// At 1 the line has 100, the variant 300; nothing was run at 2.
const std::string head = R"(title = "t"
sweep = "tiles"
values = [1, 2]
metrics = ["gflops"]
[settings]
machine = "v100-pcie"
workload = "cholesky"
[[line]]
label = "a"
scheduler = "eager"
[[line]]
label = "ours"
scheduler = "blocks"
variant = true
)";

std::string value(const std::string& line, int x, int printed, const std::string& how) {
  return "[[value]]\nline = \"" + line + "\"\nmetric = \"gflops\"\nx = " + std::to_string(x) +
         "\nvalue = " + std::to_string(printed) + "\n" + how;
}
std::string claim(const std::string& line, int x, double factor) {
  return "[[claim]]\ntext = \"c\"\ncheck = \"above\"\nmetric = \"gflops\"\nbound = \"peak\"\nline = \"" +
         line + "\"\nat = [" + std::to_string(x) + "]\nfactor = " + std::to_string(factor) + "\n";
}

Experiment of_paper(const std::string& paper, const std::string& more) {
  return read_experiment("e", "paper = \"" + paper + "\"\n" + head + more);
}
ExperimentOutcome outcome_of(const Experiment& experiment) {
  Results results;
  for (const Line& line : experiment.lines) {
    Figures& figures = results[run_of(experiment, line, 1).text()];
    figures.finished = true;
    figures.gflops = line.variant ? 300 : 100;
    figures.best_gflops = 200;
  }
  return {&experiment, table_of(experiment, results, false)};
}

TEST(Tally, CountsWhatIsJudgedAndKeepsTheRestApart) {
  const Experiment one = of_paper(
      "X, Y 2019, Figure 1", value("a", 1, 110, "within = 0.2\n") + value("a", 1, 200, "within = 0.2\n") +
                                 value("a", 2, 100, "within = 0.2\n") +
                                 value("a", 1, 100, "input = true\nnote = \"it determines n\"\n") +
                                 value("ours", 1, 300, "") + claim("a", 1, 0.4) + claim("a", 1, 0.6) +
                                 claim("a", 2, 0.4) + claim("ours", 1, 0.4));
  const Experiment another = of_paper("X, Y 2019 (somewhere), Figure 2", claim("a", 1, 0.4));
  const Experiment other = of_paper("Z 2020", claim("a", 1, 0.4));
  const Experiment neither = of_paper("W 2021", "");
  const std::vector<ExperimentOutcome> all{outcome_of(one), outcome_of(another), outcome_of(other),
                                           outcome_of(neither)};
  const auto tallies = tally_of(all);
  ASSERT_EQ(tallies.size(), 2u);
  EXPECT_EQ(tallies[0].paper, "X, Y 2019");
  EXPECT_EQ(tallies[0].claims.reproduced, 2u);
  EXPECT_EQ(tallies[0].claims.differs, 1u);
  EXPECT_EQ(tallies[0].claims.missing, 1u);
  EXPECT_EQ(tallies[0].values.reproduced, 1u);
  EXPECT_EQ(tallies[0].values.differs, 1u);
  EXPECT_EQ(tallies[0].values.missing, 1u);
  EXPECT_EQ(tallies[0].inputs, 1u);
  EXPECT_EQ(tallies[0].variants, 2u);
  const std::string page = tally(all);
  EXPECT_THAT(page, HasSubstr("\n| X, Y 2019 | 2 | 1 | 1 | 1 | 1 | 1 | 1 | 0 | 0 | 2 |\n"));
  EXPECT_THAT(
      page,
      HasSubstr(
          "\n| **all** | **3** | **1** | **1** | **1** | **1** | **1** | **1** | **0** | **0** | **2** |\n"));
}

TEST(Tally, KnowsAPaperByItsYearIfItHasOne) {
  const auto name_of = [](const std::string& paper) {
    const Experiment experiment = of_paper(paper, claim("a", 1, 0.4));
    const std::vector<ExperimentOutcome> all{outcome_of(experiment)};
    return tally_of(all)[0].paper;
  };
  EXPECT_EQ(name_of("none: my own question"), "none: my own question");
  EXPECT_EQ(name_of("Z 2020"), "Z 2020");
  EXPECT_EQ(name_of("N = 120000, of Z 2020, section 1"), "N = 120000, of Z 2020");
}

TEST(Tally, OfNothingIsNothing) {
  const Experiment neither = of_paper("W 2021", "");
  const std::vector<ExperimentOutcome> all{outcome_of(neither)};
  EXPECT_EQ(tally(all), "");
}

}  // namespace
}  // namespace fairlead::experiment
