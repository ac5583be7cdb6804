// Experiments: their files, what is run for them, and how they are judged.
#include "experiment/experiment.hpp"

#include <gmock/gmock.h>
#include <fairlead/error.hpp>

#include <atomic>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <set>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "experiment/batch_runner.hpp"
#include "experiment/output_formats.hpp"
#include "experiment/overview.hpp"
#include "experiment/verdict.hpp"
#include "machine/machine_files.hpp"
#include "schedule/policies.hpp"
#include "simulate/cluster/rank_graph.hpp"
#include "simulate/default_policy.hpp"
#include "simulate/workload.hpp"
#include "temporary_directory.hpp"

namespace fairlead::experiment {
namespace {

using testing::HasSubstr;

const std::string small = R"(title = "two policies"
paper = "none"
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

TEST(Experiment, MaySweepAPartOfASettingThatALineSetsItself) {
  std::string text = with(small, "sweep = \"tiles\"", "sweep = \"slow\"");
  text = with(text, "gpus = \"1\"", "gpus = \"1\"\nn = \"1920\"\nslow = \"gpu0:{x}:0.5-1\"");
  const Experiment experiment = read_experiment("e", with(text, "gpus = \"2\"", "slow = \"none\""));
  EXPECT_EQ(run_of(experiment, experiment.lines[0], 4).slow, "gpu0:4:0.5-1");
  EXPECT_EQ(run_of(experiment, experiment.lines[1], 4).slow, "");
  EXPECT_GT(run(run_of(experiment, experiment.lines[0], 4)).gflops, 0);
}

TEST(Experiment, SaysWhichKernelsPoliciesMisjudge) {
  const Experiment experiment =
      read_experiment("e", with(small, "gpus = \"1\"", "gpus = \"1\"\nmisjudged = \"gemm:2\""));
  const RunSpec spec = run_of(experiment, experiment.lines[0], 4);
  EXPECT_EQ(spec.misjudged, "gemm:2");
  EXPECT_NE(spec.text().find("gemm:2"), std::string::npos);  // kept results are found by it
  RunSpec wrong = spec;
  wrong.misjudged = "nothing:2";
  EXPECT_THROW(run(wrong), ConfigError);
}

TEST(Experiment, AnUnknownMemoryModelIsAnErrorThatNamesTheNearest) {
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

TEST(ExperimentFiles, AreFoundByTheFigureTheyArePanelsOf) {
  const auto found = find_experiments("placement/fig-2");
  EXPECT_EQ(found.size(), 4u);
  for (const Experiment& one : found) EXPECT_THAT(one.name, testing::StartsWith("placement/fig-2-"));
  EXPECT_EQ(find_experiments("starpu/fig-4").size(), 1u);  // one has that name
  EXPECT_THROW(find_experiments("dague/fig-1"), ConfigError);
  EXPECT_THROW(find_experiments("placement/"), ConfigError);
  EXPECT_THROW(find_experiments(""), ConfigError);
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
  const tests::TemporaryDirectory directory;
  const std::string path = directory.write("fairlead-own-experiment.toml", small);
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
  EXPECT_THAT(refusal(with(small, "sweep = ", "seeds = 0\nsweep = ")), HasSubstr("seeds of an experiment"));
  for (const auto& [setting, why] : {std::pair{"precision = \"sinlge\"", "did you mean single?"},
                                     {"data = \"dsk\"", "data of an experiment is \"dsk\""},
                                     {"noise = \"91\"", "noise of an experiment is \"91\""}}) {
    const Experiment wrong = read_experiment("e", with(small, "precision = \"single\"", setting));
    EXPECT_THAT([&] { run_of(wrong, wrong.lines[0], 2); },
                testing::ThrowsMessage<ConfigError>(HasSubstr(why)));
  }
}

// Each of these would be judged, and mean nothing.
TEST(Experiment, AClaimThatComparesNothingIsRefused) {
  const auto claiming = [](const std::string& more) { return refusal(small + more); };
  EXPECT_EQ(claiming(""), "accepted");
  EXPECT_THAT(claiming("at = [3]\n"), HasSubstr("at of a [[claim]] names 3, which is none of the `values`"));
  EXPECT_THAT(claiming("others = [\"second\"]\n"), HasSubstr("names \"second\", which is `line` itself"));
  EXPECT_THAT(claiming("limits = [1, 2]\n"), HasSubstr("have no effect without check"));
  EXPECT_THAT(claiming("bound = \"floor\"\n"), HasSubstr("has no effect without check"));
  const std::string below = with(small, "\"best\"", "\"below\"");
  EXPECT_THAT(refusal(below + "bound = \"floor\"\n"), HasSubstr("is in bytes, but the metric in GFlop/s"));
  const std::string between = with(small, "\"best\"", "\"between\"");
  EXPECT_THAT(refusal(between + "others = [\"first\"]\nlimits = [2, 1]\n"),
              HasSubstr("two growing `limits`"));
  const std::string changes = with(small, "\"best\"", "\"changes\"");
  EXPECT_THAT(refusal(changes + "at = [2]\nlimits = [1, 2]\n"),
              HasSubstr("changes needs two values in `at`"));
  EXPECT_EQ(refusal(changes + "at = [2, 4]\nlimits = [1, 2]\n"), "accepted");
  EXPECT_THAT(refusal(with(small, "x = 2", "x = 3")), HasSubstr("x of a [[value]] names 3"));
  EXPECT_THAT(refusal(with(below, "metric = \"gflops\"\nline = \"second\"",
                           "metric = \"seconds\"\nline = \"second\"") +
                      "bound = \"peak\"\n"),
              HasSubstr("is in GFlop/s, but the metric in s"));
  EXPECT_THAT(refusal(between + "limits = [1, 2]\n"), HasSubstr("between needs `others` or a `bound`"));
  EXPECT_THAT(refusal(with(with(small, "label = \"first\"", "label = \"first\"\nvariant = true"),
                           "within = 0.1\n", "")),
              HasSubstr("there is no other [[line]] that is no variant"));
}

// What counts as reproduced is fixed before it is seen.
TEST(Experiment, AValueThatNothingSaysHowToJudgeIsRefused) {
  EXPECT_THAT(
      refusal(with(small, "within = 0.1\n", "")),
      HasSubstr("experiments/e.toml:20: within of a [[value]] is missing: write how far from `value` still "
                "counts as reproduced, as within = 0.2; or input = true"));
  EXPECT_THAT(refusal(with(small, "within = 0.1", "within = 2")), HasSubstr("must be a number from 0 to 1"));
  EXPECT_THAT(refusal(with(small, "within = 0.1", "within = 0.1\ninput = true\nnote = \"n\"")),
              HasSubstr("within of a [[value]] has no effect with `input`"));
  EXPECT_THAT(refusal(with(small, "within = 0.1", "input = true")),
              HasSubstr("note of a [[value]] is missing: say what was chosen"));
  EXPECT_EQ(refusal(with(small, "within = 0.1", "input = true\nnote = \"it determines n\"")), "accepted");
}

/// With the first line, or all of it, beyond the paper.
const std::string of_variant =
    with(with(small, "scheduler = \"eager\"", "scheduler = \"eager\"\nvariant = true"), "line = \"second\"",
         "line = \"second\"\nothers = [\"first\"]");
const std::string beyond = with(with(small, "sweep = ", "variant = true\nsweep = "), "within = 0.1\n", "");

TEST(Experiment, AValueOfAVariantIsNotJudged) {
  EXPECT_THAT(refusal(of_variant), HasSubstr("within of a [[value]] has no effect: \"first\" is a variant"));
  EXPECT_EQ(refusal(with(of_variant, "within = 0.1\n", "")), "accepted");
  EXPECT_EQ(refusal(beyond), "accepted");
}

TEST(Experiment, ASettingThatMeansNothingIsRefused) {
  const auto running = [](const std::string& key, const std::string& value) -> std::string {
    Experiment experiment = read_experiment("e", small);
    experiment.settings[key] = value;
    try {
      run_of(experiment, experiment.lines[0], 2);
    } catch (const ConfigError& error) {
      return error.what();
    }
    return "accepted";
  };
  EXPECT_THAT(running("precision", "singel"), HasSubstr("must be single, double (did you mean single?)"));
  EXPECT_THAT(running("data", "dsk"), HasSubstr("(did you mean disk?)"));
  EXPECT_THAT(running("noise", "91"), HasSubstr("must be a whole number from 0 to 90"));
  EXPECT_THAT(running("streams", "0"), HasSubstr("must be a whole number from 1 to 64"));
  EXPECT_EQ(running("data", "ram"), "accepted");
  // Their product would not fit.
  EXPECT_THAT(running("tile", "9223372036854775807"),
              HasSubstr("must be a whole number from 1 to 1000000000"));
  EXPECT_THAT(running("depth", "4294967297"), HasSubstr("must be a whole number from 0 to 1024"));
  EXPECT_THAT(running("cores", "18446744073709551615"), HasSubstr("must be a whole number from 0 to 4096"));
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

TEST(Experiment, AChangeIsJudgedFromPointToPoint) {
  const std::string changes = with(small, "\"best\"", "\"changes\"") + "at = [2, 4]\n";
  const auto verdict_of = [&](const std::string& limits) {
    const Experiment experiment = read_experiment("e", changes + limits);
    return judge_claims(experiment, table_of(experiment, results(experiment), false))[0];
  };
  // 200 and 180.
  EXPECT_EQ(verdict_of("limits = [0.85, 1]\n").verdict, Verdict::reproduced);
  EXPECT_EQ(verdict_of("limits = [1, 2]\n").verdict, Verdict::differs);
  EXPECT_EQ(verdict_of("limits = [1, 2]\n").found, "0.90 times: 180 at 4, 200 at 2");
  const Experiment experiment = read_experiment("e", changes + "limits = [1, 2]\n");
  EXPECT_EQ(judge_claims(experiment, table_of(experiment, results(experiment), true))[0].verdict,
            Verdict::missing);
}

TEST(Experiment, AValueFromWhichTheExperimentWasMadeIsShownAndProvesNothing) {
  const Experiment experiment =
      read_experiment("e", with(small, "within = 0.1", "input = true\nnote = \"it determines n\""));
  const Table table = table_of(experiment, results(experiment), false);
  EXPECT_EQ(judge_values(experiment, table)[0].verdict, Verdict::input);
  EXPECT_THAT(markdown(experiment, table),
              HasSubstr("| first, GFlop/s | 100 | 95.0 | 0.95 | input: it determines n |"));
}

// The second has 200 and 180; the first has what is given.
ClaimVerdict claim_against(double at_2, double at_4, const std::string& more = "") {
  const Experiment experiment = read_experiment("e", small + more);
  Results all = results(experiment);
  all.at(run_of(experiment, experiment.lines[0], 2).text()).gflops = at_2;
  all.at(run_of(experiment, experiment.lines[0], 4).text()).gflops = at_4;
  ClaimVerdict verdict = judge_claims(experiment, table_of(experiment, all, false)).back();
  verdict.claim = nullptr;  // it is gone with the experiment
  return verdict;
}

TEST(Experiment, AComparisonThatTheSimulationDoesNotResolveIsATie) {
  EXPECT_EQ(claim_against(100, 170).verdict, Verdict::reproduced);
  EXPECT_EQ(claim_against(100, 180).verdict, Verdict::tie);
  EXPECT_EQ(claim_against(100, 178.5).verdict, Verdict::tie);
  EXPECT_EQ(claim_against(100, 178.5).found, "x = 4: 180, first 178.5");
  EXPECT_EQ(claim_against(100, 181).verdict, Verdict::differs);  // what does not hold is never a tie
  // A factor states by how much: what is above it is no tie.
  EXPECT_EQ(claim_against(100, 90, "factor = 2\n").verdict, Verdict::reproduced);
}

TEST(Experiment, AClaimThatFollowsFromAnAssumptionOrFromACountedRunIsNotCounted) {
  EXPECT_EQ(claim_against(100, 100, "input = \"the latency\"\n").verdict, Verdict::input);
  EXPECT_THAT(claim_against(100, 100, "input = \"the latency\"\n").found,
              HasSubstr("; follows from the latency"));
  EXPECT_EQ(claim_against(100, 100, "duplicate = \"Figure 8\"\n").verdict, Verdict::duplicate);
  // If it does not hold, that is said.
  EXPECT_EQ(claim_against(300, 300, "input = \"the latency\"\n").verdict, Verdict::differs);
  EXPECT_EQ(claim_against(300, 300, "duplicate = \"Figure 8\"\n").verdict, Verdict::differs);
}

// LS_SDH2 and LS_SDHB are one policy where all data are of one size: what holds of one holds of both.
TEST(Experiment, TwoLinesWithTheSameFiguresAreOnePieceOfEvidence) {
  const std::string third = "[[line]]\nlabel = \"third\"\nscheduler = \"ap\"\n[[value]]";
  const std::string claim =
      "others = [\"first\"]\nat = [2]\n[[claim]]\ntext = \"the third is better\"\ncheck = \"best\"\n"
      "metric = \"gflops\"\nline = \"third\"\nothers = [\"first\"]\nat = [2]\n";
  const auto verdict_of = [&](double of_third) {
    const Experiment experiment = read_experiment("e", with(small, "[[value]]", third) + claim);
    Results all = results(experiment);
    all.emplace(run_of(experiment, experiment.lines[2], 2).text(), figures(of_third));
    const auto claims = judge_claims(experiment, table_of(experiment, all, false));
    EXPECT_EQ(claims[0].verdict, Verdict::reproduced);
    return claims[1].verdict;
  };
  EXPECT_EQ(verdict_of(200), Verdict::duplicate);
  EXPECT_EQ(verdict_of(201), Verdict::reproduced);
  EXPECT_EQ(verdict_of(50), Verdict::differs);
}

TEST(Experiment, WhatIsAboutAVariantIsShownAndNotJudged) {
  for (const std::string& text : {with(of_variant, "within = 0.1\n", ""), beyond}) {
    const Experiment experiment = read_experiment("e", text);
    const Table table = table_of(experiment, results(experiment), false);
    EXPECT_EQ(judge_values(experiment, table)[0].verdict, Verdict::variant);
    const auto claims = judge_claims(experiment, table);
    EXPECT_EQ(claims[0].verdict, Verdict::variant);
    EXPECT_EQ(claims[0].holds, false);
    EXPECT_EQ(claims[0].found, "holds at 1 of 2 points; x = 4: 180, first 190");
    EXPECT_THAT(markdown(experiment, table), HasSubstr("| variant | it has more devices |"));
    Results some = results(experiment);
    some.erase(run_of(experiment, experiment.lines[1], 2).text());
    const auto lacking = judge_claims(experiment, table_of(experiment, some, true));
    EXPECT_EQ(lacking[0].verdict, Verdict::variant);
    EXPECT_EQ(lacking[0].holds, std::nullopt);
  }
}

// "Better than all others" is about what the paper ran.
TEST(Experiment, AClaimWithoutOthersIsNotComparedWithVariants) {
  const Experiment experiment = read_experiment(
      "e", with(small, "[[value]]",
                "[[line]]\nlabel = \"ours\"\nscheduler = \"blocks\"\nvariant = true\n[[value]]"));
  Results all = results(experiment);
  for (const double x : {2., 4.})
    all.emplace(run_of(experiment, experiment.lines[2], x).text(), figures(1000));
  all.at(run_of(experiment, experiment.lines[0], 4).text()).gflops = 10;
  const auto claims = judge_claims(experiment, table_of(experiment, all, false));
  EXPECT_EQ(claims[0].verdict, Verdict::reproduced);
  EXPECT_EQ(claims[0].found, "x = 4: 180, first 10");
}

TEST(Experiment, SeveralLinesAreHeldAgainstABound) {
  const auto judged = [](const std::string& check, const std::string& more) {
    const Experiment experiment = read_experiment("e", with(small, "\"best\"", '"' + check + '"') + more);
    Results all = results(experiment);  // 95 and 190; 200 and 180
    for (auto& [run, its] : all) its.best_gflops = 210;
    return judge_claims(experiment, table_of(experiment, all, false))[0];
  };
  EXPECT_EQ(judged("above", "bound = \"peak\"\nfactor = 0.8\n").verdict, Verdict::reproduced);
  EXPECT_EQ(judged("above", "bound = \"peak\"\nfactor = 0.9\n").found,
            "holds at 1 of 2 points; x = 4: 180 against 0.9 times 210 (peak)");
  EXPECT_EQ(judged("above", "bound = \"peak\"\nfactor = 0.8\nothers = [\"first\"]\n").found,
            "holds at 1 of 2 points; x = 2: 200, first 95 against 0.8 times 210 (peak)");
  EXPECT_EQ(judged("between", "bound = \"peak\"\nlimits = [0.8, 0.9]\n").found,
            "holds at 1 of 2 points; x = 2: 200 against 0.8 to 0.9 times 210 (peak)");
}

// Whatever is measured is above nothing.
TEST(Experiment, ABoundThatIsNotKnownJudgesNothing) {
  const Experiment experiment =
      read_experiment("e", with(small, "\"best\"", "\"above\"") + "bound = \"peak\"\n");
  const auto claims = judge_claims(experiment, table_of(experiment, results(experiment), false));
  EXPECT_EQ(claims[0].verdict, Verdict::missing);
  EXPECT_EQ(claims[0].found, "x = 2: the peak is not known");
}

TEST(Experiment, ARatioIsHeldAgainstEachOfTheOthers) {
  const std::string third = "[[line]]\nlabel = \"third\"\nscheduler = \"ap\"\n[[value]]";
  const auto verdict_of = [&](double of_third) {
    const Experiment experiment =
        read_experiment("e", with(with(small, "[[value]]", third), "\"best\"", "\"between\"") +
                                 "others = [\"first\", \"third\"]\nlimits = [1.8, 2.2]\nat = [2]\n");
    Results all = results(experiment);
    all.emplace(run_of(experiment, experiment.lines[2], 2).text(), figures(of_third));
    return judge_claims(experiment, table_of(experiment, all, false))[0].verdict;
  };
  EXPECT_EQ(verdict_of(100), Verdict::reproduced);
  EXPECT_EQ(verdict_of(150), Verdict::differs);
}

/// The first has 90, 95 and 130 (three seeds) at 2, and 190 at 4; the second 200 and 180.
Results results_by_seed(const Experiment& experiment) {
  Results all;
  for (const double x : experiment.values)
    for (const Line& line : experiment.lines)
      for (const auto& of_seed : runs_at(experiment, line, x, false)) {
        const bool first = line.label == "first";
        const std::uint64_t seed = of_seed[0].seed;
        const double both = first ? 190 : x == 2 ? 200 : 180;
        all.emplace(of_seed[0].text(), figures(!first || x == 4 ? both
                                               : seed == 1      ? 90
                                               : seed == 2      ? 95
                                                                : 130));
      }
  return all;
}

TEST(Experiment, IsRunWithSeveralSeedsIfItSaysSo) {
  const Experiment experiment =
      read_experiment("e", with(with(small, "sweep = ", "seeds = 3\naround = [-1, 0]\nsweep = "),
                                "tile = \"960\"", "tile = \"960\"\nnoise = \"5\""));
  const auto runs = runs_at(experiment, experiment.lines[0], 4, false);
  ASSERT_EQ(runs.size(), 3u);
  for (std::size_t i = 0; i < 3; ++i) {
    ASSERT_EQ(runs[i].size(), 2u);
    for (const RunSpec& run : runs[i]) {
      EXPECT_EQ(run.seed, i + 1);
      EXPECT_EQ(run.noise_percent, 5u);
    }
    EXPECT_EQ(runs[i][0].n, 3 * 960);
    EXPECT_EQ(runs[i][1].n, 4 * 960);
  }
  EXPECT_EQ(runs_of(experiment, false).size(), 24u);
  EXPECT_EQ(runs_of(experiment, true).size(), 2u);  // one seed is quick
  EXPECT_NE(run(runs[0][1]).seconds, run(runs[1][1]).seconds);
}

// By the means it is better, 120 to 105; by the seeds it is not known, since one run of the first has 130.
TEST(Experiment, AComparisonWithinTheRangeOfTheSeedsIsATie) {
  const Experiment experiment =
      read_experiment("e", with(small, "sweep = ", "seeds = 3\nsweep = ") + "at = [2]\n");
  for (const auto& [second, verdict] :
       {std::pair{120.0, Verdict::tie}, {140.0, Verdict::reproduced}, {100.0, Verdict::differs}}) {
    Results all = results_by_seed(experiment);
    for (const auto& of_seed : runs_at(experiment, experiment.lines[1], 2, false))
      all.at(of_seed[0].text()).gflops = second;
    EXPECT_EQ(judge_claims(experiment, table_of(experiment, all, false))[0].verdict, verdict) << second;
  }
}

TEST(Experiment, IsJudgedByMeansOverTheSeedsAndShowsHowFarTheyDiffer) {
  const Experiment experiment = read_experiment("e", with(small, "sweep = ", "seeds = 3\nsweep = "));
  const Table table = table_of(experiment, results_by_seed(experiment), false);
  ASSERT_TRUE(table.series[0].points[0].has_value());
  EXPECT_DOUBLE_EQ(table.series[0].points[0]->gflops, 105);
  const auto range = table.series[0].range(0, Metric::gflops);
  ASSERT_TRUE(range.has_value());
  EXPECT_EQ(range->least, 90);
  EXPECT_EQ(range->most, 130);
  EXPECT_EQ(judge_values(experiment, table)[0].verdict, Verdict::reproduced);  // 100 within 10 %
  EXPECT_THAT(text(experiment, table), HasSubstr("105 (90.0-130)"));
  EXPECT_THAT(text(experiment, table), HasSubstr("means over 3 seeds, with the least and the most"));
  EXPECT_THAT(text(experiment, table),
              testing::ContainsRegex("first +105 +190\n  least-most +90.0-130 +190-190\n"));
  EXPECT_THAT(markdown(experiment, table), HasSubstr("| 105 (90.0-130) |"));
  EXPECT_THAT(csv(experiment, table), HasSubstr(",best_gflops,least_gflops,most_gflops,least_gigabytes_to"));
  EXPECT_THAT(json(experiment, table),
              testing::ContainsRegex("\"paper\": 100.0,\n *\"here\": 105.0,\n *\"verdict\": \"reproduced\",\n"
                                     " *\"least\": 90.0,\n *\"most\": 130.0"));
  EXPECT_THAT(json(experiment, table), HasSubstr("\"claim\": "));
  EXPECT_THAT(csv(experiment, table), HasSubstr(",90,130,10,10\n"));
}

TEST(Experiment, WithOneSeedSaysNothingOfSeeds) {
  const Experiment experiment = read_experiment("e", small);
  const Table table = table_of(experiment, results(experiment), false);
  EXPECT_EQ(table.series[0].range(0, Metric::gflops), std::nullopt);
  for (const std::string& written :
       {text(experiment, table), csv(experiment, table), markdown(experiment, table)})
    EXPECT_THAT(written, testing::AllOf(testing::Not(HasSubstr("least")), testing::Not(HasSubstr("seeds"))));
}

TEST(Experiment, NamesTheSeedThatDidNotFinish) {
  const Experiment experiment = read_experiment("e", with(small, "sweep = ", "seeds = 3\nsweep = "));
  Results some = results_by_seed(experiment);
  Figures& failed = some.at(runs_at(experiment, experiment.lines[0], 2, false)[1][0].text());
  failed = {};
  failed.problem = "it hung";
  EXPECT_EQ(table_of(experiment, some, false).series[0].problems,
            std::vector<std::string>{"x = 2, seed 2: it hung"});
}

/// The lines of a text that begin with a column of labels, from the first that contains `begin` to an empty
/// one.
std::vector<std::string> table_lines(const std::string& text, const std::string& begin) {
  std::vector<std::string> lines;
  std::istringstream stream(text.substr(text.find(begin)));
  for (std::string line; std::getline(stream, line) && !line.empty();) lines.push_back(line);
  return lines;
}

// Whatever labels are, columns are below each other.
TEST(Experiment, HasColumnsAsWideAsItsLabels) {
  std::string wide = small;
  const std::string label = "the second of them, whose label is longer than any column was";
  for (std::size_t at = 0; (at = wide.find("\"first\"", at)) != std::string::npos; at += label.size())
    wide.replace(at, 7, '"' + label + "é\"");
  const Experiment experiment = read_experiment("e", wide);
  const std::string written = text(experiment, table_of(experiment, results(experiment), false));
  const auto values = table_lines(written, "                  ");
  ASSERT_EQ(values.size(), 2u);
  const auto end_of = [](const std::string& line, const std::string& word) {
    return line.find(word) + word.size();
  };
  // é takes two bytes and one column.
  EXPECT_EQ(end_of(values[0], "Fairlead") + 1, end_of(values[1], " 95.0"));
  EXPECT_EQ(values[0].find("verdict") + 1, values[1].find("reproduced"));
  const auto rates = table_lines(written, "GFlop/s by tiles");
  ASSERT_GE(rates.size(), 4u);
  EXPECT_EQ(rates[2].size(), rates[1].size() + 1);
  EXPECT_EQ(rates[3].size(), rates[1].size());
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
  // The second is better at x = 4, too, but the value at x = 2 is missing.
  some.at(run_of(experiment, experiment.lines[1], 4).text()).gflops = 500;
  const auto claims = judge_claims(experiment, table_of(experiment, some, false));
  EXPECT_EQ(claims[0].verdict, Verdict::missing);
  EXPECT_EQ(claims[0].found, "x = 2: first did not finish");
}

// The one table over machines and workloads: a row for each experiment that runs every policy.
TEST(Overview, HasARowForEachExperimentWithEveryPolicy) {
  const Experiment wide = read_experiment(
      "e", with(small.substr(0, small.find("[[line]]")), "sweep = ", "every_policy = true\nsweep = "));
  ASSERT_EQ(wide.lines.size(), schedule::policies().size());
  EXPECT_EQ(wide.lines[0].label, schedule::policies()[0].name);
  Results all;
  for (const RunSpec& run : runs_of(wide, false)) {
    Figures one = figures(run.scheduler == "lws" ? 80 : 40);
    one.percent_of_peak = one.gflops;
    one.best_gflops = 100;
    one.critical_path_gflops = 90;
    all.emplace(run.text(), one);
  }
  const Experiment narrow = read_experiment("n", small);  // is no row
  const std::vector<ExperimentOutcome> outcomes{{&narrow, table_of(narrow, results(narrow), false)},
                                                {&wide, table_of(wide, all, false)}};
  const std::string page = overview(outcomes);
  EXPECT_THAT(page,
              HasSubstr("\n| none | 0 | 1 | 0 | 1 | 0 | 0 | 0 | 0 | 0 | 0 |\n"));  // before it the tally
  EXPECT_THAT(page, HasSubstr("| % of peak | eager | lws |"));
  EXPECT_THAT(page, HasSubstr("\n| two policies, 4 tiles | 40 | **80** | 40 |"));
  EXPECT_THAT(page, HasSubstr(" 40 | 90 |\n\n| GB moved |"));
  EXPECT_THAT(overview_csv(outcomes), HasSubstr("\ne,2,lws,80,80,10,0,90,0,0\n"));
  EXPECT_EQ(overview({outcomes.data(), 1}), "");
}

// Every machine and every workload is in it.
TEST(Overview, IsOfAllMachinesAndWorkloads) {
  std::set<std::string> machines, workloads;
  for (const Experiment& one : find_experiments("overview")) {
    EXPECT_TRUE(one.every_policy) << one.name;
    machines.insert(one.settings.at("machine"));
    workloads.insert(one.settings.at("workload"));
  }
  EXPECT_EQ(machines.size(), machine::built_in_machine_files().size());
  EXPECT_EQ(workloads.size(), simulate::workloads().size());
}

TEST(BatchRunner, RunsEachOnceAndTakesWhatWasRunBefore) {
  const auto folder =
      std::filesystem::temp_directory_path() / ("fairlead-experiment-" + std::to_string(getpid()));
  const Experiment experiment = read_experiment("e", small);
  std::vector<RunSpec> runs = runs_of(experiment, false);
  runs.push_back(runs.front());
  BatchProgress last;
  const auto on_progress = [&](const BatchProgress& progress) { last = progress; };
  const Results first = BatchRunner(folder.string(), "this").run_all(runs, 2, on_progress);
  EXPECT_EQ(first.size(), 4u);
  EXPECT_EQ(last.done, 4u);
  EXPECT_EQ(last.from_cache, 0u);
  const Results again = BatchRunner(folder.string(), "this").run_all(runs, 2, on_progress);
  EXPECT_EQ(last.from_cache, 4u);
  for (const auto& [run, its] : first) {
    EXPECT_GT(its.gflops, 0);
    EXPECT_EQ(again.at(run).gflops, its.gflops);
    EXPECT_EQ(again.at(run).gigabytes_to_devices, its.gigabytes_to_devices);
  }
  // Another program may compute other figures.
  static_cast<void>(BatchRunner(folder.string(), "another").run_all(runs, 1, on_progress));
  EXPECT_EQ(last.from_cache, 0u);
  std::filesystem::remove_all(folder);
}

// More threads than runs: only as many as there are runs start.
TEST(BatchRunner, TakesNoMoreThreadsThanThereAreRuns) {
  const auto ignore = [](const BatchProgress&) {};
  const auto runs = runs_of(read_experiment("e", small), true);
  EXPECT_FALSE(BatchRunner("", "this").run_all(runs, 1'000'000, ignore).empty());
}

// A machine of one's own is the file's content, not its name: who changes a rate wants new figures. What is
// damaged is not used.
TEST(BatchRunner, WhatIsKeptHoldsForTheFilesAsTheyWere) {
  const std::filesystem::path folder =
      std::filesystem::temp_directory_path() / ("fairlead-own-" + std::to_string(getpid()));
  std::filesystem::create_directories(folder);
  const std::string mine = (folder / "mine.toml").string();
  std::string machine(machine::built_in_machine_files().back().text);
  const auto write = [&] { std::ofstream(mine) << machine; };
  write();
  Experiment experiment = read_experiment("e", small);
  experiment.settings["machine"] = mine;
  const std::vector<RunSpec> runs{run_of(experiment, experiment.lines[0], 2)};
  BatchProgress last;
  const auto figures = [&] {
    return BatchRunner((folder / "kept").string(), "this")
        .run_all(runs, 1, [&](const BatchProgress& progress) { last = progress; })
        .begin()
        ->second;
  };
  const double before = figures().gflops;
  EXPECT_EQ(figures().gflops, before);
  EXPECT_EQ(last.from_cache, 1u);

  for (const auto& entry : std::filesystem::directory_iterator(folder / "kept")) {
    std::ifstream kept(entry.path());
    std::string text{std::istreambuf_iterator<char>(kept), std::istreambuf_iterator<char>()};
    ++text[text.find("gflops ") + 7];  // another digit
    std::ofstream(entry.path()) << text;
  }
  EXPECT_EQ(figures().gflops, before);
  EXPECT_EQ(last.from_cache, 0u);

  machine = with(machine, "bandwidth = \"12GB/s\"", "bandwidth = \"1GB/s\"");
  write();
  EXPECT_LT(figures().gflops, before);
  EXPECT_EQ(last.from_cache, 0u);
  std::filesystem::remove_all(folder);
}

// Its path is the same after a change, but what was run is another machine.
TEST(BatchRunner, RunsAgainWhatUsesAMachineFileThatHasChanged) {
  const auto folder =
      std::filesystem::temp_directory_path() / ("fairlead-machine-" + std::to_string(getpid()));
  std::filesystem::create_directories(folder);
  const std::string path = (folder / "mine.toml").string();
  std::string machine;
  for (const EmbeddedFile& file : machine::built_in_machine_files())
    if (file.name == "k40") machine = file.text;
  std::ofstream(path) << machine;
  Experiment experiment = read_experiment("e", small);
  experiment.settings["machine"] = path;
  const std::vector<RunSpec> runs = runs_of(experiment, true);
  BatchProgress last;
  const auto run_all = [&] {
    static_cast<void>(
        BatchRunner(folder.string(), "this").run_all(runs, 1, [&](const BatchProgress& progress) {
          last = progress;
        }));
    return last.from_cache;
  };
  EXPECT_EQ(run_all(), 0u);
  EXPECT_EQ(run_all(), 2u);
  std::ofstream(path) << machine << "\n# another\n";
  EXPECT_EQ(run_all(), 0u);
  std::filesystem::remove_all(folder);
}

TEST(ExperimentFiles, CanAllBeReadAndNameWhatThereIs) {
  EXPECT_GE(experiment_files().size(), 20u);
  for (const EmbeddedFile& file : experiment_files()) {
    SCOPED_TRACE(file.name);
    const Experiment experiment = read_experiment(file.name, file.text);
    EXPECT_FALSE(experiment.paper.empty());
    for (const RunSpec& run : runs_of(experiment, true)) {
      if (run.scheduler != simulate::automatic) {
        EXPECT_NO_THROW(schedule::make_policy(run.scheduler));
      }
      if (run.ranks == 0) {
        EXPECT_NO_THROW(simulate::find_workload(run.workload));
      } else {
        const simulate::WorkloadSize size{.n = run.n, .tile = run.tile};
        EXPECT_NO_THROW(simulate::make_rank_graph(run.workload, size, Distribution::grid_of(run.ranks)));
      }
    }
  }
}

}  // namespace
}  // namespace fairlead::experiment
