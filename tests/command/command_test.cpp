// Output and exit code of the command line (0: success, 1: failure, 2: usage error).
#include <fairlead/version.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>

#include "command/answer.hpp"
#include "machine/machine.hpp"
#include "temporary_directory.hpp"

namespace fairlead {

using testing::ContainsRegex;
using testing::HasSubstr;

TEST(Command, AMisspeltOptionGetsTheNearestName) {
  const Answer answer = fairlead_command("info --memmory 512MiB");
  EXPECT_EQ(answer.text, "fairlead: unknown option --memmory (did you mean --memory?)\n");
  EXPECT_EQ(answer.exit_code, 2);
}

TEST(Command, AMisspeltSubcommandGetsTheNearestName) {
  const Answer answer = fairlead_command("inof");
  EXPECT_EQ(answer.text, "fairlead: unknown subcommand \"inof\" (did you mean info?)\n");
  EXPECT_EQ(answer.exit_code, 2);
}

TEST(Command, AnOptionBeforeTheSubcommandIsAnError) {
  const Answer answer = fairlead_command("--memory 1GB info");
  EXPECT_THAT(answer.text, HasSubstr("fairlead: unknown option --memory: a subcommand comes first, one of "));
  EXPECT_EQ(answer.exit_code, 2);
}

TEST(Command, AMisspeltMemoryModelGetsTheNearestName) {
  const Answer answer =
      fairlead_command("simulate cholesky --n 3840 --machine guyot --memory-model host-maped");
  EXPECT_THAT(answer.text, HasSubstr("--memory-model host-maped: must be one of explicit, managed, "));
  EXPECT_THAT(answer.text, HasSubstr("(did you mean host-mapped?)"));
  EXPECT_EQ(answer.exit_code, 2);
}

TEST(Command, AnUnknownEnvironmentVariableIsAUsageError) {
  const Answer answer = fairlead_command("info", "FAIRLEAD_WORKER=2");
  EXPECT_EQ(answer.text,
            "fairlead: unknown environment variable FAIRLEAD_WORKER (did you mean FAIRLEAD_WORKERS?)\n");
  EXPECT_EQ(answer.exit_code, 2);
}

TEST(Command, AFailureOfAValidCommandReturnsOne) {
  const Answer answer = fairlead_command("info --disk-directory /no/such/place");
  EXPECT_EQ(answer.text, "fairlead: cannot use the directory /no/such/place: No such file or directory\n");
  EXPECT_EQ(answer.exit_code, 1);
  EXPECT_EQ(fairlead_command("info --json /no/such/place/a.json > /dev/null", kernels_kept).exit_code, 1);
}

// A report cut off by a full disk must not look like success.
TEST(Command, AFullStandardOutputIsAnError) {
  const Answer answer = fairlead_command("help info >/dev/full");
  EXPECT_EQ(answer.exit_code, 1);
  // Printed line by line, so the last flush cannot fail.
  EXPECT_EQ(fairlead_command("simulate cholesky --n 960 >/dev/full").exit_code, 1);
}

// Before minutes of simulation.
TEST(Command, UnwritableResultsOfExperimentsAreReportedBeforeTheRun) {
  const auto run = [](const std::string& more) {
    return fairlead_command("experiment run dague/placeholder --quick " + more);
  };
  for (const std::string place : {"--output none --markdown /dev/null",
                                  "--output none --markdown /no/such/page.md", "--output /proc/nowhere"}) {
    const Answer answer = run(place);
    EXPECT_EQ(answer.exit_code, 2) << answer.text;
    EXPECT_THAT(answer.text, Not(HasSubstr("runs"))) << place;
  }
}

// A run that cannot use its cache directory reports so once, not once per rank.
TEST(Command, ACacheDirectoryThatOthersCanWriteIsReportedOnce) {
  const tests::TemporaryDirectory folder;
  const auto times = [&](const std::string& arguments, const std::string& directory) {
    namespace fs = std::filesystem;
    fs::create_directories(directory);
    fs::permissions(directory, fs::perms::all);
    const Answer answer = fairlead_command(arguments + " --cache-directory " + (folder / "cache").string());
    EXPECT_EQ(answer.exit_code, 0) << answer.text;
    EXPECT_TRUE(fs::is_empty(directory)) << answer.text;
    EXPECT_THAT(answer.text, Not(HasSubstr("later runs use the result")));
    int found = 0;
    const std::string words = "can be written by other users (mode 0777";
    for (std::size_t at = answer.text.find(words); at != std::string::npos;
         at = answer.text.find(words, at + 1))
      ++found;
    return found;
  };
  const std::string bench = "bench cholesky --n 64 --tile 16 --workers 1 --progress none";
  const std::string cache = folder / "cache";
  EXPECT_EQ(times(bench + " --ranks 2", cache), 1);
  std::filesystem::permissions(cache, std::filesystem::perms::owner_all);
  EXPECT_EQ(times("experiment run dague/fig-5 --quick --output none", cache + "/experiments"), 1);
}

TEST(Command, ExperimentsOfAFolderAreListed) {
  const Answer answer = fairlead_command("experiment list dague");
  EXPECT_EQ(answer.exit_code, 0);
  EXPECT_THAT(answer.text, HasSubstr("dague/placeholder"));
  EXPECT_THAT(answer.text, Not(HasSubstr("darts/")));
  EXPECT_EQ(fairlead_command("experiment list nothing").exit_code, 2);
}

TEST(Command, WithoutASubcommandListsThem) {
  EXPECT_EQ(fairlead_command("").exit_code, 2);
  const Answer answer = fairlead_command("--help");
  EXPECT_EQ(answer.exit_code, 0);
  EXPECT_THAT(answer.text, HasSubstr("\n  info "));
  EXPECT_EQ(fairlead_command("help").text, answer.text);
}

TEST(Command, HelpSubcommandEqualsTheHelpOption) {
  const Answer answer = fairlead_command("info --help");
  EXPECT_EQ(answer.exit_code, 0);
  EXPECT_TRUE(answer.text.starts_with("usage: fairlead info [options]\n"));
  EXPECT_EQ(fairlead_command("help info").text, answer.text);
}

TEST(Command, PrintsItsVersion) {
  EXPECT_THAT(
      fairlead_command("--version").text,
      testing::MatchesRegex(std::string("fairlead ") + version() + "( \\(commit [0-9a-f]+(-dirty)?\\))?\n"));
}

TEST(Info, ShowsTheMachine) {
  const Answer answer = fairlead_command("info --disk-directory /tmp", kernels_kept);
  EXPECT_EQ(answer.exit_code, 0) << answer.text;
  for (const char* heading : {"\nworkers ", "\nNUMA ", "\nmemory ", "\npages ", "\ndisk        /tmp "})
    EXPECT_THAT(answer.text, HasSubstr(heading));
  EXPECT_THAT(answer.text, HasSubstr("a run takes up to "));
}

TEST(Info, ShowsTheOriginOfEachSetting) {
  const Answer answer = fairlead_command("info --config --tile 512", "FAIRLEAD_MEMORY=1GiB " + kernels_kept);
  EXPECT_EQ(answer.exit_code, 0);
  EXPECT_THAT(answer.text, ContainsRegex("\nmemory            1GiB +environment: FAIRLEAD_MEMORY\n"));
  EXPECT_THAT(answer.text, ContainsRegex("\ntile              512 +command line: --tile\n"));
  EXPECT_THAT(answer.text, ContainsRegex("\nwindow            2048 +default\n"));
}

TEST(Info, WritesJsonToAFile) {
  const Answer answer =
      fairlead_command("info --tile 512 --json /dev/fd/3 3>&1 >/dev/null 2>/dev/null", kernels_kept);
  EXPECT_EQ(answer.exit_code, 0) << answer.text;
  EXPECT_TRUE(answer.text.starts_with("{\n  \"version\": ")) << answer.text;
  EXPECT_THAT(answer.text, HasSubstr("\"where\": \"--tile\""));
}

// The limit is valid for one rank, but not for the sum.
TEST(Command, WarningsAboutTheMemoryOfRanksArePrintedBeforeTheRun) {
  const machine::MachineMemory memory = machine::discover().memory;
  const Bytes whole = std::min(memory.total_bytes, memory.limit_bytes.value_or(memory.total_bytes));
  const auto bench = [](Bytes each, int ranks) {
    return fairlead_command("bench cholesky --n 64 --tile 16 --workers 1 --memory " + std::to_string(each) +
                                " --ranks " + std::to_string(ranks),
                            kernels_kept);
  };
  const Answer much = bench(whole / 4 * 3, 2);
  EXPECT_THAT(much.text, HasSubstr("fairlead: warning: 2 ranks on this machine")) << much.exit_code;
  EXPECT_EQ(much.text.find("warning: 2 ranks"), much.text.rfind("warning: 2 ranks")) << much.text;
  const Answer enough = bench(Bytes{64} << 20, 2);
  EXPECT_EQ(enough.exit_code, 0) << enough.text;
  EXPECT_THAT(enough.text, testing::Not(HasSubstr("warning: 2 ranks")));
}

}  // namespace fairlead
