// Experiments on several simulated ranks: what their settings mean, and that they come to what the simulation says.
#include <gtest/gtest.h>
#include <fairlead/error.hpp>

#include <map>
#include <string>

#include "experiment/experiment.hpp"
#include "experiment/run.hpp"
#include "machine/machine_files.hpp"
#include "simulate/cluster/cluster.hpp"

namespace fairlead::experiment {
namespace {

using Settings = std::map<std::string, std::string>;

RunSpec spec_of(const Settings& more, const std::string& sweep = "tile", double x = 100) {
  Experiment experiment;
  experiment.name = "own";
  experiment.sweep = sweep;
  experiment.settings = {{"machine", "griffon"}, {"workload", "cholesky"}, {"tile", "100"}};
  for (const auto& [key, value] : more) experiment.settings[key] = value;
  return run_of(experiment, {.label = "l", .scheduler = "lfq", .other = {}, .note = {}}, x);
}
std::string refused(const Settings& more) {
  try {
    run(spec_of(more));
  } catch (const ConfigError& error) {
    return error.what();
  }
  return "";
}

TEST(ExperimentOnRanks, ItsSizeMayFollowFromTheirNumber) {
  EXPECT_EQ(spec_of({{"ranks", "9"}, {"tiles_of_one_rank", "4"}}).n, 1200);
  EXPECT_EQ(spec_of({{"tiles_of_one_rank", "10"}}, "ranks", 48).n, 6900);  // 69.28 tiles
  EXPECT_EQ(spec_of({{"n_at_least", "13600"}}, "tile", 340).n, 13600);
  EXPECT_EQ(spec_of({{"n_at_least", "13600"}}, "tile", 350).n, 13650);
}

TEST(ExperimentOnRanks, CoresAreDealtOutToThem) {
  EXPECT_EQ(spec_of({{"cores_in_all", "8"}}, "ranks", 4).cores, 2u);
  const RunSpec by_cores = spec_of({{"cores_in_all", "8"}}, "cores", 2);
  EXPECT_EQ(by_cores.ranks, 4u);
  EXPECT_EQ(by_cores.cores, 2u);
  EXPECT_THROW(spec_of({{"cores_in_all", "8"}}, "ranks", 3), ConfigError);
}

TEST(ExperimentOnRanks, AreAnotherRunThanOneNode) {
  const std::string alone = spec_of({{"n", "1000"}}).text(),
                    four = spec_of({{"n", "1000"}, {"ranks", "4"}}).text();
  EXPECT_EQ(alone.find("ranks"), alone.npos);  // what was kept of such runs holds
  EXPECT_NE(four.find("ranks=4"), four.npos);
  EXPECT_NE(spec_of({{"n", "1000"}, {"ranks", "4"}, {"network_bandwidth_times", "0.8"}}).text(), four);
}

TEST(ExperimentOnRanks, ComeToWhatTheSimulationSays) {
  const Figures figures = run(spec_of({{"n", "1200"}, {"ranks", "4"}, {"cores", "2"}}));
  const simulate::Blueprint blueprint("cholesky", {1200, 100, simulate::Precision::double_},
                                      {.rank_rows = 2, .rank_columns = 2});
  const simulate::ClusterResult result =
      simulate::simulate(blueprint, machine::load_machine("griffon"), {.cores = 2}, {.policy = "lfq"});
  EXPECT_TRUE(figures.finished);
  EXPECT_EQ(figures.seconds, result.seconds);
  EXPECT_EQ(figures.gflops, result.gflops());
  EXPECT_NEAR(figures.percent_of_gemm_peak, 100 * result.gflops() / (8 * 9), 1e-9);  // 9 GFlop/s a core
  EXPECT_NEAR(figures.gigabytes_sent, static_cast<double>(result.traffic().payload_bytes) * 1e-9, 1e-12);
}

TEST(ExperimentOnRanks, AFasterNetworkOrFasterPanelsTakeLessTime) {
  const Settings plain{{"n", "2000"}, {"ranks", "9"}};
  const double seconds = run(spec_of(plain)).seconds;
  for (const auto& [key, faster] : Settings{{"network_bandwidth_times", "4"}, {"panel_rates_times", "2"}}) {
    Settings changed = plain;
    changed[key] = faster;
    EXPECT_LT(run(spec_of(changed)).seconds, seconds) << key;
  }
  Settings far = plain;
  far["network_latency_times"] = "50";
  EXPECT_GT(run(spec_of(far)).seconds, seconds);
}

TEST(ExperimentOnRanks, WhatMeansNothingIsRefused) {
  EXPECT_NE(refused({{"n", "1000"}, {"grid", "2x2"}}).find("without the setting ranks"), std::string::npos);
  EXPECT_NE(refused({{"n", "1000"}, {"ranks", "4"}, {"grid", "2x3"}}).find("not one of 4 ranks"),
            std::string::npos);
  EXPECT_NE(
      refused({{"n", "1000"}, {"ranks", "4"}, {"memory_model", "managed"}}).find("not there with ranks"),
      std::string::npos);
  EXPECT_NE(refused({{"n", "9000"}, {"ranks", "82"}}).find("has 81 nodes"), std::string::npos);
}

}  // namespace
}  // namespace fairlead::experiment
