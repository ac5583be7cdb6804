// fairlead calibrate from outside: measures once, keeps the figures, and info shows them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "command/answer.hpp"
#include "temporary_directory.hpp"

namespace fairlead {

using testing::HasSubstr;
using testing::Not;

namespace {

class Calibrate : public testing::Test {
 protected:
  Answer command(const std::string& subcommand, const std::string& more = "") const {
    return fairlead_command(subcommand + " --disk-directory " + directory.path().string() +
                            " --cache-directory " + (directory / "cache").string() + " " + more);
  }
  Answer calibrate(const std::string& more = "") const {
    return command("calibrate", "--amount 16MiB " + more);
  }

  const tests::TemporaryDirectory directory;
};

}  // namespace

TEST_F(Calibrate, MeasuresTheLinksOfThisMachine) {
  const Answer answer = calibrate();
  EXPECT_EQ(answer.exit_code, 0) << answer.text;
  EXPECT_THAT(answer.text,
              HasSubstr("disk of " + std::filesystem::canonical(directory.path()).string() + ": writing\n"));
  for (const char* row : {"\nlink ", "\nuser memory - RAM ", "\ndisk - RAM ", "\nKept for later runs in "})
    EXPECT_THAT(answer.text, HasSubstr(row));
}

TEST_F(Calibrate, MeasuresOnce) {
  calibrate();
  const Answer answer = calibrate();
  EXPECT_EQ(answer.exit_code, 0);
  EXPECT_THAT(answer.text, Not(HasSubstr(": writing\n")));
  EXPECT_THAT(answer.text, HasSubstr("\ndisk - RAM "));
  EXPECT_THAT(answer.text, HasSubstr("All of it was measured before; --again measures it again.\n"));
}

TEST_F(Calibrate, MeasuresAgainWhenAsked) {
  calibrate();
  EXPECT_THAT(calibrate("--again").text, HasSubstr(": writing\n"));
}

TEST_F(Calibrate, IsQuietWithoutProgress) {
  EXPECT_TRUE(calibrate("--progress none").text.starts_with("link "));
}

// A wrong command line fails before minutes of measurements.
TEST_F(Calibrate, ReportsErrorsBeforeMeasuring) {
  const auto refused = [&](const std::string& more, const std::string& words) {
    const Answer answer = calibrate("--again " + more);
    EXPECT_EQ(answer.exit_code, 2) << more;
    EXPECT_THAT(answer.text, HasSubstr(words));
    EXPECT_THAT(answer.text, Not(HasSubstr(": writing\n"))) << more;
  };
  refused("--tiles 0", "--tiles 0: give increasing sides");
  refused("--devices emulated:memory=16MiB --tiles 64,64", "--tiles 64,64: give increasing sides");
  refused("--devices emulatd:memory=16MiB", "\"emulatd\"");
}

// Most machines have no GPU: the simulator can also use a machine of cores.
TEST_F(Calibrate, WritesAMachineOfCores) {
  const std::string file = directory / "cores.toml";
  const Answer answer =
      calibrate("--devices none --workers 2 --tiles 32 --precision double --machine-file " + file);
  ASSERT_EQ(answer.exit_code, 0) << answer.text;
  std::ifstream written(file);
  const std::string text{std::istreambuf_iterator<char>(written), {}};
  for (const char* line : {"[processor.core]", "kind = \"cpu\"", "cores = 2", "kernel = \"gemm\""})
    EXPECT_THAT(text, HasSubstr(line));
  EXPECT_THAT(text, Not(HasSubstr("[[device]]")));
  const Answer simulated =
      fairlead_command("simulate cholesky --n 256 --tile 32 --scheduler eager --machine " + file);
  EXPECT_EQ(simulated.exit_code, 0) << simulated.text;
}

TEST_F(Calibrate, LeavesNoFileOnTheDisk) {
  calibrate();
  for (const auto& entry : std::filesystem::directory_iterator(directory.path()))
    EXPECT_EQ(entry.path(), directory / "cache");
}

TEST_F(Calibrate, IsShownByInfo) {
  EXPECT_THAT(command("info").text, HasSubstr("no links: fairlead calibrate measures them\n"));
  calibrate();
  EXPECT_THAT(command("info").text, HasSubstr("\ndisk - RAM "));
  EXPECT_THAT(command("info", "--json /dev/stdout").text, HasSubstr("\"both_bytes_per_second\": "));
}

TEST_F(Calibrate, MeasuresWithoutACacheDirectory) {
  const Answer answer =
      fairlead_command("calibrate --amount 16MiB --disk-directory " + directory.path().string());
  EXPECT_EQ(answer.exit_code, 0);
  EXPECT_THAT(answer.text, HasSubstr("Not kept for later runs: no directory is set (--cache-directory)\n"));
  std::ofstream(directory / "cache") << "a file";
  EXPECT_THAT(calibrate().text, HasSubstr("Not kept for later runs: cannot make the directory "));
}

TEST_F(Calibrate, NamesADirectoryThatItCannotMeasure) {
  const Answer answer = fairlead_command("calibrate --disk-directory /no/such/place");
  EXPECT_EQ(
      answer.text,
      "memory: copying\nfairlead: cannot use the directory /no/such/place: No such file or directory\n");
  EXPECT_EQ(answer.exit_code, 1);
}

TEST_F(Calibrate, RefusesAnAmountTooSmallForADisk) {
  EXPECT_EQ(fairlead_command("calibrate --amount 1MiB").exit_code, 2);
}

// The durations that a run measures are kept in the same file; info counts them.
TEST_F(Calibrate, KeepsDurationsOfRunsNextToTheLinks) {
  calibrate();
  EXPECT_EQ(command("bench", "cholesky --n 512 --tile 64 --memory 16MiB --progress none").exit_code, 0);
  const std::string text = command("info").text;
  EXPECT_THAT(text, HasSubstr("\ndisk - RAM "));
  EXPECT_THAT(text,
              testing::ContainsRegex("measured    durations of [0-9]+ codelets, [0-9]+ in all, kept in "));
}

}  // namespace fairlead
