// What pieces are worth, over all experiments of a folder: the lines of one at the points of others, and what their ratios come
// to.
#include "experiment/ablations.hpp"

#include <gmock/gmock.h>
#include <fairlead/error.hpp>

#include <algorithm>
#include <string>
#include <vector>

namespace fairlead::experiment {
namespace {

using testing::HasSubstr;

const std::string two_lines = R"(title = "t"
paper = "none"
over = "default"
[[line]]
label = "all"
scheduler = "auto"
[[line]]
label = "without darts"
scheduler = "what-if:off=darts"
)";

}  // namespace

TEST(Ablations, AreAtEveryPointThatIsJudged) {
  const std::vector<Experiment> given{read_experiment("default/two", two_lines)};
  std::size_t points = 0, judged = 0;
  for (const Experiment& one : find_experiments("default")) {
    judged += one.judged.empty() ? 0 : 1;
    points += one.judged.empty() ? 0 : one.values.size();
  }
  EXPECT_GE(points, 100u);
  const std::vector<Experiment> all = laid_out(given);
  EXPECT_EQ(all.size(), judged);
  std::size_t runs = 0;
  for (const Experiment& one : all) {
    EXPECT_TRUE(one.name.starts_with("default/two/")) << one.name;
    EXPECT_EQ(one.over, "default/two");
    EXPECT_TRUE(one.claims.empty());
    ASSERT_EQ(one.lines.size(), 2u);
    for (const RunSpec& run : runs_of(one, false))
      runs += run.scheduler == "what-if:off=darts" && run.seed == 1;
  }
  EXPECT_GE(runs, points);
}

// Half as long once and four times as long once: sqrt(0.5 * 4) = 1.414.
TEST(Ablations, TellWhatRatiosComeTo) {
  const std::vector<Experiment> given{read_experiment("default/two", two_lines)};
  std::vector<Experiment> all = laid_out(given);
  all.resize(2);
  std::vector<ExperimentOutcome> outcomes;
  double without = 1;
  for (Experiment& one : all) {
    one.values.resize(1);
    one.seeds = 1;
    one.around = {0};
    Results results;
    for (const Line& line : one.lines) {
      Figures& figures = results[run_of(one, line, one.values.front()).text()];
      figures.finished = true;
      figures.seconds = line.label == "all" ? 2 : without;
    }
    without = 8;
    outcomes.push_back({&one, table_of(one, results, false)});
  }
  EXPECT_THAT(ablations(outcomes), HasSubstr("### default/two\n"));
  EXPECT_THAT(ablations(outcomes), HasSubstr("| without darts | 2 | 1.414 | 4.00 | 0.50 | 1 | 1 |\n"));
  EXPECT_THAT(ablations_csv(outcomes), HasSubstr(all[1].name + ","));
  EXPECT_THAT(ablations_csv(outcomes), HasSubstr(",without darts,4.0000\n"));
  EXPECT_EQ(ablations({}), "");
}

// It takes many times as long as all others of its folder.
TEST(Ablations, AreRunByTheirNameOnly) {
  EXPECT_EQ(find_experiments("default/ablations").size(), 1u);
  for (const char* many : {"default", "all"})
    for (const Experiment& one : find_experiments(many)) EXPECT_TRUE(one.over.empty()) << one.name;
}

TEST(Ablations, NeedSomethingToCompare) {
  const std::string one_line = two_lines.substr(0, two_lines.rfind("[[line]]"));
  EXPECT_THROW(read_experiment("e", one_line), ConfigError);
  EXPECT_THROW(read_experiment("e", "sweep = \"tiles\"\n" + two_lines), ConfigError);
}

}  // namespace fairlead::experiment
