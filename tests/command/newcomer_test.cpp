// The first contact of a new user with the command: help, lists, warnings, suggestions, tables.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "command/answer.hpp"
#include "sanitized.hpp"

namespace fairlead {
namespace {

using testing::ContainsRegex;
using testing::HasSubstr;
using testing::Not;

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

class Newcomer : public testing::Test {
 protected:
  void SetUp() override { std::filesystem::create_directories(folder_); }
  void TearDown() override { std::filesystem::remove_all(folder_); }
  std::string path(const std::string& name) const { return (folder_ / name).string(); }
  std::vector<std::string> file(const std::string& name) const {
    std::stringstream text;
    text << std::ifstream(path(name)).rdbuf();
    return lines_of(text.str());
  }

  std::filesystem::path folder_ =
      std::filesystem::temp_directory_path() / ("fairlead-newcomer-" + std::to_string(getpid()));
};

const std::vector<std::string> subcommands{"solve",    "bench",    "info",    "calibrate",  "schedulers",
                                           "machines", "simulate", "compare", "experiment", "replay-log",
                                           "status",   "help",     "factor",  "logdet",     "plan"};

}  // namespace

TEST_F(Newcomer, FindsExamplesAndExitStatusesInTheHelp) {
  for (const std::string& name : subcommands) {
    const std::string text = fairlead_command("help --all " + name).text;
    EXPECT_EQ(fairlead_command(name + " --help-all").text, text);
    EXPECT_THAT(text, HasSubstr("\nExamples:\n  fairlead " + name)) << name;
    EXPECT_THAT(text, ContainsRegex("\nExit status:\n  0 +success\n  1 +.*\n  2 +")) << name;
    // Each example parses as printed: its options exist.
    std::vector<std::string> examples;
    for (const std::string& line : lines_of(text.substr(text.find("\nExamples:\n"))))
      if (line.starts_with("  fairlead "))
        examples.push_back(line.substr(11, line.find_first_of("|>$&") - 11));
    ASSERT_EQ(examples.size(), 2u) << name;
    for (const std::string& example : examples) {
      const Answer answer = fairlead_command(example + " --help");
      EXPECT_EQ(answer.exit_code, 0) << example << ": " << answer.text;
    }
  }
}

// A screen of 50 lines.
TEST_F(Newcomer, SeesTheCommonOptionsOnOneScreen) {
  std::vector<std::string> names = subcommands;
  names.insert(names.end(), {"jdf", "jdf run", "simulate jdf"});
  for (const std::string& name : names) {
    const std::string text = fairlead_command(name + " --help").text;
    EXPECT_LE(lines_of(text).size(), 50u) << text;
    EXPECT_THAT(text, HasSubstr("\nExamples:\n  fairlead " + name)) << name;
  }
}

// The command refuses options that help does not list, and accepts those that it lists.
TEST_F(Newcomer, SeesOnlyTheOptionsThatASubcommandTakes) {
  for (const std::string name : {"schedulers", "machines", "replay-log a", "status 1", "help"}) {
    EXPECT_THAT(fairlead_command(name + " --help").text, Not(HasSubstr("--memory"))) << name;
    const Answer answer = fairlead_command(name + " --memory 1GB");
    EXPECT_EQ(answer.exit_code, 2) << name;
    EXPECT_THAT(answer.text, HasSubstr("--memory has no effect here")) << name;
    EXPECT_EQ(fairlead_command(name + " --workers 2").exit_code, 2) << name;
  }
  const std::string calibrate = fairlead_command("calibrate --help").text;
  EXPECT_THAT(calibrate, HasSubstr("--disk-directory"));
  EXPECT_THAT(calibrate, Not(HasSubstr("--scheduler")));
}

TEST_F(Newcomer, SeesAlignedColumnsInLists) {
  for (const std::string list : {"experiment list", "machines"}) {
    const Answer answer = fairlead_command(list);
    ASSERT_EQ(answer.exit_code, 0) << list;
    std::size_t column = 0;
    for (const std::string& line : lines_of(answer.text)) {
      if (line.empty()) break;
      const std::size_t space = line.find("  ");
      ASSERT_NE(space, line.npos) << line;
      const std::size_t begin = line.find_first_not_of(' ', space);
      if (column == 0) column = begin;
      EXPECT_EQ(begin, column) << line;
    }
  }
}

TEST_F(Newcomer, GetsTheNearestMachineName) {
  EXPECT_THAT(fairlead_command("machines v100").text, HasSubstr("(did you mean v100-pcie?)"));
  EXPECT_THAT(fairlead_command("simulate cholesky --machine v100").text,
              HasSubstr("(did you mean v100-pcie?)"));
}

TEST_F(Newcomer, SimulatesTheDefaultPolicyOfRealRuns) {
  const Answer fits = fairlead_command("simulate cholesky --n 9600");
  EXPECT_EQ(fits.exit_code, 0);
  EXPECT_THAT(fits.text, HasSubstr("auto is what-if here, as in a real run: the data fit in each memory"));
  EXPECT_THAT(fits.text, HasSubstr("\nwhat-if "));
  EXPECT_THAT(fairlead_command("simulate cholesky --n 9600 --gpus 0 --cores 4").text,
              HasSubstr("auto is lws here, as in a real run: the data fit in each memory"));
  EXPECT_THAT(fits.text, HasSubstr("\nsummit: "));
  const Answer former = fairlead_command("simulate cholesky --n 2400 --scheduler rehearsed");
  EXPECT_EQ(former.exit_code, 0);
  EXPECT_THAT(former.text, HasSubstr("warning: the scheduler rehearsed is now called what-if"));
  const Answer not_all = fairlead_command(
      "simulate cholesky --n 9600 --machine epyc-7642 --memory 200MB --scheduler auto,eager");
  EXPECT_THAT(not_all.text, HasSubstr("auto is what-if here, as in a real run: the data do not fit in RAM"));
  EXPECT_THAT(not_all.text, HasSubstr("\nwhat-if "));
  EXPECT_THAT(fairlead_command("simulate cholesky --n 38400 --machine v100-pcie --memory 2000MB").text,
              HasSubstr("auto is what-if here, as in a real run: the data do not fit in a device's memory"));
  EXPECT_THAT(not_all.text, HasSubstr("\neager "));
}

TEST_F(Newcomer, GetsATableOfTheSpreadOverSeeds) {
  const std::string small =
      "cholesky --n 9600 --tile 960 --machine k40 --memory 60MB --noise 20 --runs 4 --csv ";
  const Answer simulated = fairlead_command("simulate --scheduler eager,dmda " + small + path("a.csv"));
  ASSERT_EQ(simulated.exit_code, 0) << simulated.text;
  EXPECT_THAT(simulated.text, HasSubstr("least-most"));
  const auto rows = file("a.csv");
  ASSERT_EQ(rows.size(), 3u);
  EXPECT_THAT(rows[0], HasSubstr(",seconds,seconds_least,seconds_most,gflops,"));
  EXPECT_THAT(rows[1], testing::StartsWith("eager,k40,cholesky,9600,960,double,0,4,4,"));
  // Noise: the least is less than the most.
  std::vector<std::string> cells;
  std::istringstream row(rows[2]);
  for (std::string cell; std::getline(row, cell, ',');) cells.push_back(cell);
  ASSERT_GT(cells.size(), 12u);
  EXPECT_LT(std::stod(cells[10]), std::stod(cells[9]));
  EXPECT_LT(std::stod(cells[9]), std::stod(cells[11]));

  const Answer compared = fairlead_command("compare --scheduler eager,dmda " + small + path("b.csv"));
  ASSERT_EQ(compared.exit_code, 0) << compared.text;
  EXPECT_EQ(file("b.csv").size(), 7u);  // three sizes
  EXPECT_EQ(file("b.csv")[0], rows[0]);

  EXPECT_EQ(fairlead_command("simulate " + small + "/no/such/place.csv").exit_code, 1);
  EXPECT_THAT(fairlead_command("simulate " + small + path("c.csv") + " --event-log " + path("log")).text,
              HasSubstr("--event-log needs a single run"));
}

// A share of a device's memory, not of this machine's.
TEST_F(Newcomer, MayGiveMemoryAsAShare) {
  const Answer half = fairlead_command("simulate cholesky --n 9600 --machine v100-pcie --memory 50%"),
               none = fairlead_command("simulate cholesky --n 9600 --machine v100-pcie --memory 0%");
  EXPECT_EQ(half.exit_code, 0) << half.text;
  EXPECT_EQ(none.exit_code, 2);
  EXPECT_THAT(none.text, HasSubstr("a share must be more than 0% and at most 100%"));
}

TEST_F(Newcomer, IsWarnedAboutMoreMemoryThanTheMachineHas) {
  const std::string bench = "bench cholesky --n 64 --tile 32 --disk-directory /tmp --progress none ";
  const Answer sane = fairlead_command(bench + "--memory 16MiB --workers 2", kernels_kept);
  EXPECT_EQ(sane.exit_code, 0) << sane.text;
  EXPECT_THAT(sane.text, Not(HasSubstr("warning")));
  EXPECT_THAT(fairlead_command(bench + "--memory 900TB --workers 1", kernels_kept).text,
              HasSubstr("fairlead: warning: a memory limit of 900TB is more than the"));
}

TEST_F(Newcomer, SeesThatTheBlasIsTimed) {
  const std::string bench = "info --disk-directory /tmp --cache-directory " + path("cache");
  EXPECT_THAT(fairlead_command(bench).text, HasSubstr("fairlead: timing the BLAS libraries of this machine"));
}

TEST_F(Newcomer, GetsAnErrorForTilesThatAreTooSmall) {
  const Answer answer =
      fairlead_command("bench cholesky --n 6000 --tile 1 --memory 100MB --disk-directory /tmp", kernels_kept);
  EXPECT_EQ(answer.exit_code, 2) << answer.text;
  EXPECT_THAT(answer.text, HasSubstr("--tile 1: n = 6000 in tiles of 1 gives 6000 tiles a side; at most 2048 "
                                     "are possible: use --tile 3 or more"));
}

TEST_F(Newcomer, CannotSimulateAProgramThatIsTooLarge) {
  if (tests::sanitized) GTEST_SKIP() << "ten million tasks that are counted";
  const Answer answer = fairlead_command("simulate gemm --n 4000 --tile 1 --machine k40");
  EXPECT_EQ(answer.exit_code, 2) << answer.text;
  EXPECT_THAT(answer.text, HasSubstr("the program has more than 10000000 tasks"));
  EXPECT_EQ(
      fairlead_command("simulate cholesky --n 9223372036854775807 --tile 9223372036854775807").exit_code, 2);
}

}  // namespace fairlead
