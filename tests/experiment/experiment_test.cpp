// Experiments: their files, what is run for them, and how they are judged.
#include "experiment/experiment.hpp"

#include <gmock/gmock.h>
#include <fairlead/error.hpp>

#include <atomic>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include "experiment/verdict.hpp"
#include "experiment/written.hpp"
#include "schedule/policies.hpp"
#include "simulate/workload.hpp"

namespace fairlead::experiment {
namespace {

using testing::HasSubstr;

const std::string small = R"(title = "two policies"
paper = "nobody's"
sweep = "tiles"
values = [2, 4]
metrics = ["gflops", "gigabytes_to_devices"]
[settings]
machine = "v100-pcie"
workload = "cholesky"
precision = "single"
tile = "960"
gpus = "1"
[[line]]
label = "first"
scheduler = "eager"
[[line]]
label = "second"
scheduler = "lws"
[line.with]
gpus = "2"
[[value]]
line = "first"
metric = "gflops"
x = 2
value = 100
within = 0.1
[[claim]]
text = "the second is better"
check = "best"
metric = "gflops"
line = "second"
reason = "it has more devices"
)";

std::string refusal(const std::string& text) {
  try {
    read_experiment("e", text);
  } catch (const ConfigError& error) {
    return error.what();
  }
  return "accepted";
}
std::string with(std::string text, const std::string& what, const std::string& instead) {
  return text.replace(text.find(what), what.size(), instead);
}

Figures figures(double gflops) {
  Figures one;
  one.finished = true;
  one.gflops = gflops;
  one.gigabytes_to_devices = 10;
  one.bus_limit_gigabytes = 20;
  return one;
}
/// first: 95 and 190; second: 200 and 180.
Results results(const Experiment& experiment) {
  return {{run_of(experiment, experiment.lines[0], 2).text(), figures(95)},
          {run_of(experiment, experiment.lines[0], 4).text(), figures(190)},
          {run_of(experiment, experiment.lines[1], 2).text(), figures(200)},
          {run_of(experiment, experiment.lines[1], 4).text(), figures(180)}};
}

TEST(Experiment, SaysWhatIsRun) {
  const Experiment experiment = read_experiment("e", small);
  const RunSpec run = run_of(experiment, experiment.lines[1], 4);
  EXPECT_EQ(run.scheduler, "lws");
  EXPECT_EQ(run.n, 4 * 960);
  EXPECT_EQ(run.gpus, 2u);
  EXPECT_EQ(runs_of(experiment, false).size(), 4u);
  EXPECT_EQ(runs_of(experiment, true).size(), 2u);  // the first value alone if no others are quick
}

TEST(Experiment, APointIsTheMeanOfItsRuns) {
  const Experiment experiment = read_experiment("e", with(small, "metrics", "runs = 3\nmetrics"));
  EXPECT_EQ(runs_of(experiment, false).size(), 12u);
  EXPECT_EQ(runs_of(experiment, true).size(), 2u);
  Results some;
  for (const auto& [x, run] : runs_of_point(experiment, experiment.lines[0], 2, false)) {
    EXPECT_EQ(x, 2);
    some.emplace(run.text(), figures(static_cast<double>(run.seed) * 10));
  }
  EXPECT_EQ(some.size(), 3u);
  EXPECT_EQ(table_of(experiment, some, false).series[0].points[0]->gflops, 20);
  EXPECT_THAT(refusal(with(small, "metrics", "runs = 0\nmetrics")), HasSubstr("runs"));
}

TEST(Experiment, AMemoryModelThatThereIsNotIsToldTheNearest) {
  Experiment experiment = read_experiment("e", small);
  experiment.settings["memory_model"] = "managd-advised";
  const RunSpec spec = run_of(experiment, experiment.lines[0], 2);
  try {
    run(spec);
    FAIL() << "it ran";
  } catch (const ConfigError& error) {
    EXPECT_THAT(error.what(),
                HasSubstr("no memory model \"managd-advised\" (did you mean managed-advised?)"));
  }
  experiment.settings["memory_model"] = "host-mapped";
  RunSpec explicitly = run_of(experiment, experiment.lines[0], 2), mapped = explicitly;
  explicitly.memory_model = "";
  EXPECT_NE(explicitly.text(), mapped.text());  // what was kept of one is not taken for the other
  EXPECT_GT(run(mapped).gigabytes_to_devices, run(explicitly).gigabytes_to_devices);
}

TEST(Experiment, HasItsLinesSideBySideOnAPageWithTheOrderOfTheirTasks) {
  const Experiment experiment = read_experiment("e", with(small, "sweep = ", "page = true\nsweep = "));
  EXPECT_TRUE(experiment.page);
  const report::Comparison compared = side_by_side(experiment, 2);
  EXPECT_EQ(compared.runs.size(), 2u);
  ASSERT_EQ(compared.order.runs.size(), 2u);
  for (std::size_t i = 0; i < 2; ++i) {
    EXPECT_EQ(compared.order.runs[i].scheduler, experiment.lines[i].scheduler);
    EXPECT_EQ(compared.order.runs[i].order.size(), compared.order.tasks.size());
  }
}

// What the papers call tables are points of figures.
TEST(ExperimentFiles, AreFoundByTheirOtherNames) {
  const auto found = find_experiments("darts/table-1");
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].name, "darts/fig-5");
  EXPECT_EQ(find_experiments("darts/table-2")[0].name, "darts/fig-12");
}

TEST(ExperimentFiles, TheOneOnThePageCanBeRun) {
  std::ifstream file(FAIRLEAD_EXPERIMENTS_PAGE);
  const std::string page{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  const std::size_t begin = page.find("```toml\n") + 8;
  const Experiment shown = read_experiment("page", page.substr(begin, page.find("```", begin) - begin));
  EXPECT_EQ(runs_of(shown, false).size(), 6u);
  EXPECT_TRUE(run(runs_of(shown, true).front()).finished);
}

TEST(ExperimentFiles, MayBeOnesOwn) {
  const std::string path = testing::TempDir() + "fairlead-own-experiment.toml";
  std::ofstream(path) << small;
  const auto found = find_experiments(path);
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].name, "fairlead-own-experiment");
  std::ofstream(path) << "title = 3\n";
  try {
    find_experiments(path);
    FAIL() << "it was read";
  } catch (const ConfigError& error) {
    EXPECT_THAT(error.what(), HasSubstr(path + ":1: title"));
  }
  std::filesystem::remove(path);
  EXPECT_THROW(find_experiments(path), ConfigError);
}

TEST(Experiment, IsRefusedWithLineAndReason) {
  EXPECT_THAT(refusal(with(small, "sweep = \"tiles\"", "sweep = \"gpuss\"")),
              HasSubstr("did you mean gpus?"));
  EXPECT_THAT(refusal(with(small, "[\"gflops\", ", "[\"gflop\", ")),
              HasSubstr("e.toml:5: metrics of an experiment"));
  EXPECT_THAT(refusal(with(small, "line = \"second\"", "line = \"secnd\"")),
              HasSubstr("names \"secnd\", which is no [[line]] (did you mean second?)"));
  EXPECT_THAT(refusal(with(small, "check = \"best\"", "check = \"good\"")),
              HasSubstr("check of a [[claim]] must be"));
  EXPECT_THAT(refusal(with(small, "label = \"second\"", "label = \"first\"")), HasSubstr("a second time"));
}

TEST(Experiment, IsJudgedPointByPoint) {
  const Experiment experiment = read_experiment("e", small);
  const Table table = table_of(experiment, results(experiment), false);
  const auto values = judge_values(experiment, table);
  ASSERT_EQ(values.size(), 1u);
  EXPECT_EQ(values[0].here, 95);
  EXPECT_EQ(values[0].verdict, Verdict::reproduced);
  const auto claims = judge_claims(experiment, table);
  ASSERT_EQ(claims.size(), 1u);
  EXPECT_EQ(claims[0].verdict, Verdict::differs);
  EXPECT_EQ(claims[0].found, "holds at 1 of 2 points; x = 4: 180, first 190");
  EXPECT_THAT(markdown(experiment, table), HasSubstr("| differs | it has more devices |"));
  EXPECT_THAT(text(experiment, table), HasSubstr("first, GFlop/s"));
  EXPECT_THAT(csv(experiment, table), HasSubstr("\"second\",4,"));
}

TEST(Experiment, WhatDidNotFinishIsMissing) {
  const Experiment experiment = read_experiment("e", small);
  Results some = results(experiment);
  Figures& failed = some.at(run_of(experiment, experiment.lines[0], 2).text());
  failed = {};
  failed.problem = "it hung";
  const Table table = table_of(experiment, some, false);
  EXPECT_FALSE(table.series[0].points[0].has_value());
  EXPECT_EQ(table.series[0].problems, std::vector<std::string>{"x = 2: it hung"});
  EXPECT_EQ(judge_values(experiment, table)[0].verdict, Verdict::missing);
  EXPECT_THAT(text(experiment, table), HasSubstr("first did not finish: x = 2: it hung"));
}

TEST(Runner, RunsEachOnceAndTakesWhatWasRunBefore) {
  const auto folder =
      std::filesystem::temp_directory_path() / ("fairlead-experiment-" + std::to_string(getpid()));
  const Experiment experiment = read_experiment("e", small);
  std::vector<RunSpec> runs = runs_of(experiment, false);
  runs.push_back(runs.front());
  const auto never = [] { return false; };
  Progress last;
  const auto told = [&](const Progress& progress) { last = progress; };
  const Results first = Runner(folder.string(), "this").run_all(runs, 2, told, never);
  EXPECT_EQ(first.size(), 4u);
  EXPECT_EQ(last.done, 4u);
  EXPECT_EQ(last.from_cache, 0u);
  const Results again = Runner(folder.string(), "this").run_all(runs, 2, told, never);
  EXPECT_EQ(last.from_cache, 4u);
  for (const auto& [run, its] : first) {
    EXPECT_GT(its.gflops, 0);
    EXPECT_EQ(again.at(run).gflops, its.gflops);
    EXPECT_EQ(again.at(run).gigabytes_to_devices, its.gigabytes_to_devices);
  }
  // Another program may compute other figures.
  static_cast<void>(Runner(folder.string(), "another").run_all(runs, 1, told, never));
  EXPECT_EQ(last.from_cache, 0u);
  std::filesystem::remove_all(folder);
}

TEST(ExperimentFiles, CanAllBeReadAndNameWhatThereIs) {
  EXPECT_GE(experiment_files().size(), 20u);
  for (const ExperimentFile& file : experiment_files()) {
    SCOPED_TRACE(file.name);
    const Experiment experiment = read_experiment(file.name, file.text);
    EXPECT_FALSE(experiment.paper.empty());
    for (const RunSpec& run : runs_of(experiment, true)) {
      EXPECT_NO_THROW(schedule::make_policy(run.scheduler));
      EXPECT_NO_THROW(simulate::find_workload(run.workload));
    }
  }
}

}  // namespace
}  // namespace fairlead::experiment
