// One policy compared with the best published one, over several experiments.
#include "experiment/judged.hpp"

#include <gmock/gmock.h>
#include <fairlead/error.hpp>

#include <algorithm>
#include <string>
#include <vector>

#include "schedule/policies.hpp"

namespace fairlead::experiment {
namespace {

using testing::HasSubstr;

Experiment experiment(const std::string& more = "") {
  return read_experiment("default/e", R"(title = "t"
paper = "none"
judged = "auto"
sweep = "tiles"
values = [1, 2]
metrics = ["seconds"]
)" + more + R"([settings]
machine = "v100-pcie"
workload = "cholesky"
)");
}

/// At 1 the best takes 2 s, at 2 one takes 4 s; the processors could do it in 1 s.
ExperimentOutcome outcome_of(const Experiment& one, double judged_at_1, double judged_at_2) {
  Results results;
  for (const Line& line : one.lines)
    for (const double x : {1.0, 2.0}) {
      Figures& figures = results[run_of(one, line, x).text()];
      figures.finished = true;
      const bool best = line.label == (x == 1 ? "darts" : "dmdas");
      figures.seconds = best ? 2 * x : 10;
      if (line.label == "auto") figures.seconds = x == 1 ? judged_at_1 : judged_at_2;
      figures.best_gflops = 100;
      figures.critical_path_gflops = 1000;
      figures.gflops = 100 / figures.seconds;
    }
  return {&one, table_of(one, results, false)};
}

}  // namespace

TEST(Judged, ComparesWithThePublishedPoliciesAndNoOthers) {
  std::vector<std::string> labels;
  for (const Line& line : experiment().lines) labels.push_back(line.label);
  EXPECT_EQ(labels.size(), published_policies().size() + 1);
  EXPECT_EQ(labels.back(), "auto");
  EXPECT_EQ(std::ranges::find(labels, "blocks"), labels.end());
  const auto known = schedule::policy_names();
  for (const std::string_view name : published_policies())
    EXPECT_NE(std::ranges::find(known, name), known.end()) << name;
  EXPECT_THROW(experiment("every_policy = true\n"), ConfigError);
}

// 1.0 of 2.0, and 5 of 4: sqrt(0.5 * 1.25) = 0.791 in the mean.
TEST(Judged, StatesEachRatioAndTheirSummary) {
  const Experiment one = experiment();
  const std::vector<ExperimentOutcome> all{outcome_of(one, 1, 5)};
  const std::string page = judged(all);
  EXPECT_THAT(page, HasSubstr("| t | 1 tiles | darts | 0.50 | 2.00 |\n"));
  EXPECT_THAT(page, HasSubstr("| t | 2 tiles | dmdas | **1.25** | 4.00 |\n"));
  EXPECT_THAT(page, HasSubstr("| all | 2 | 0.791 | 1.25 | 1 | 1 |\n"));
  EXPECT_EQ(judged_csv(all),
            "experiment,x,judged,best,ratio,bound\ndefault/e,1,auto,darts,0.5000,2.0000\n"
            "default/e,2,auto,dmdas,1.2500,4.0000\n");
  EXPECT_EQ(judged({}), "");
}

TEST(Judged, CountsApartWhereTheBoundIsFar) {
  const Experiment one = experiment();
  ExperimentOutcome near = outcome_of(one, 2, 4);
  for (Series& series : near.table.series)
    for (auto& point : series.points) point->best_gflops = point->gflops;
  const std::vector<ExperimentOutcome> all{near};
  EXPECT_THAT(judged(all), HasSubstr("| all | 2 | 1.000 | 1.00 | 0 | 0 |\n"));
  EXPECT_THAT(judged(all), HasSubstr("times the bound or more | 0 |"));
}

TEST(Judged, ThoseThatComeWithFairleadJudgeTheDefaultPolicy) {
  for (const Experiment& one : find_experiments("default")) {
    EXPECT_TRUE(one.variant) << one.name;
    EXPECT_TRUE(std::ranges::any_of(one.lines, [](const Line& line) { return line.scheduler == "auto"; }))
        << one.name;
  }
}

}  // namespace fairlead::experiment
