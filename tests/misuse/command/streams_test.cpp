// Standard streams that are closed, full or without a reader: the results count, and no file of the program gets
// the number of a stream.
#include <fcntl.h>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <string>

#include "misuse/command/folder.hpp"
#include "sanitized.hpp"

namespace fairlead::misuse {
namespace {

using testing::HasSubstr;

/// The exit status of a line for bash, run in the folder; `fairlead` is the program. Above 128: a signal.
int shell(const Folder& folder, const std::string& line) {
  const std::string all = "export FAIRLEAD_CACHE_DIRECTORY='" + testing::TempDir() +
                          "fairlead-misuse-cache'; cd '" + folder.path().string() +
                          "' && fairlead() { '" FAIRLEAD_COMMAND "' \"$@\"; } && " + line;
  const pid_t child = fork();
  if (child == 0) {
    execl("/bin/bash", "bash", "-c", all.c_str(), nullptr);
    _exit(126);
  }
  int status = 0;
  waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

constexpr const char* solving = "fairlead solve A.npy b.npy -o x.npy --progress lines";
constexpr const char* benching =
    tests::sanitized
        ? "fairlead bench cholesky --n 512 --tile 64 --workers 2 --progress lines --json report.json"
        : "fairlead bench cholesky --n 1024 --tile 64 --workers 2 --progress lines --json report.json";
constexpr const char* closings[] = {
    "2>&-", ">&- 2>&-", "<&- >&- 2>&-", "2>/dev/full", ">/dev/full 2>/dev/full", "2> >(true)"};

TEST(Streams, ASolutionCountsWithoutStreams) {
  for (const char* closed : closings) {
    Folder folder;
    EXPECT_EQ(shell(folder, std::string(solving) + " " + closed), 0) << closed;
    EXPECT_EQ(folder.everything().count("x.npy"), 1u) << closed;
  }
}

// The spill file is on a file system in memory, where every write would succeed.
TEST(Streams, MessagesAreNotWrittenIntoTheSpillFile) {
  for (const char* closed : closings) {
    Folder folder;
    // Lost output is an error; the report exists nevertheless.
    const bool full = std::string_view(closed).find(">/dev/full 2") == 0;
    EXPECT_EQ(shell(folder, std::string(benching) + " --disk-directory /dev/shm " + closed), full ? 1 : 0)
        << closed;
    const std::string report = folder.content("report.json");
    const auto at = report.find("\"backward_error\":");
    ASSERT_NE(at, std::string::npos) << closed;
    EXPECT_LT(std::stod(report.substr(at + 17)), 1e-14) << closed;
  }
}

TEST(Streams, TheExitStatusIsThatOfTheComputation) {
  Folder folder;
  for (const char* closed : closings) {
    EXPECT_EQ(shell(folder, std::string("fairlead solve none.npy b.npy -o x.npy ") + closed), 1) << closed;
    EXPECT_EQ(shell(folder, std::string("fairlead solve A.npy b.npy -o x.npy --memmory 1MiB ") + closed), 2)
        << closed;
  }
}

// For commands that only print.
TEST(Streams, LostOutputIsAFailure) {
  Folder folder;
  EXPECT_EQ(shell(folder, "fairlead schedulers >/dev/full"), 1);
  EXPECT_EQ(shell(folder, "fairlead help >/dev/full"), 1);
  EXPECT_EQ(shell(folder, "fairlead help >/dev/full 2>&1"), 1);
  EXPECT_EQ(shell(folder, "fairlead bench cholesky --n 64 --progress none >/dev/full"), 1);
}

// A write beyond the limit of file sizes is an error, not a signal that ends the process; x exists.
TEST(Streams, AReportTruncatedByAFileSizeLimitIsAnError) {
  for (const char* report : {"trace", "report", "json", "record-flow"}) {
    Folder folder;
    EXPECT_EQ(
        shell(folder,
              fmt::format("ulimit -f 1; fairlead solve A.npy b.npy -o x.npy --tile 10 --progress none --{} "
                          "written 2>&1 | head -c 2000 >/dev/null; exit ${{PIPESTATUS[0]}}",
                          report)),
        1)
        << report;
    EXPECT_EQ(folder.everything().count("x.npy"), 1u) << report;
  }
  Folder folder;
  EXPECT_EQ(shell(folder, "ulimit -f 0; fairlead info >/dev/null"), 0);
  EXPECT_EQ(shell(folder,
                  "ulimit -f 0; fairlead solve A.npy b.npy -o x.npy --progress none 2>&1 | cat >/dev/null; "
                  "exit ${PIPESTATUS[0]}"),
            1);
  EXPECT_EQ(folder.everything().count("x.npy"), 0u);
}

TEST(Streams, AnErrorOfAReportStatesThatTheSolutionExists) {
  Folder folder;
  const Answer answer = folder.run("solve A.npy b.npy -o x.npy --progress none --json /dev/full");
  EXPECT_EQ(answer.exit_code, 1);
  EXPECT_THAT(answer.errors, HasSubstr("The solution is in x.npy all the same."));
  EXPECT_EQ(folder.everything().count("x.npy"), 1u);
}

// The kernels are measured with tiles that fit the matrix, within the memory of the run. (Sanitizers reserve tebibytes of
// addresses, and end a program that allocates too much.)
TEST(Streams, ATileLargerThanTheMatrixTakesNoMoreMemory) {
  Folder folder;
  const std::string limit = tests::address_sanitized ? "" : "ulimit -v 4000000; ";
  for (const char* operation : {"cholesky", "qr", "gemm"})
    EXPECT_EQ(shell(folder,
                    limit + fmt::format("fairlead bench {} --n 100 --tile 200000 --memory 64MiB --workers 1 "
                                        "--progress none --json report.json >/dev/null",
                                        operation)),
              0)
        << operation;
}

// As with any program whose output goes to `head`; unread error messages do not end a computation.
TEST(Streams, APipeWithoutAReaderEndsOutputAndNoComputation) {
  Folder folder;
  int ends[2];
  ASSERT_EQ(pipe2(ends, O_CLOEXEC), 0);
  close(ends[0]);
  const int nothing = open("/dev/null", O_RDWR | O_CLOEXEC);
  const auto ended = [](pid_t run) {
    int status = 0;
    waitpid(run, &status, 0);
    return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
  };
  EXPECT_EQ(ended(folder.start("help", nothing, ends[1], nothing)), 128 + SIGPIPE);
  EXPECT_EQ(ended(folder.start("solve A.npy b.npy -o x.npy --progress lines", nothing, nothing, ends[1])), 0);
  EXPECT_EQ(folder.everything().count("x.npy"), 1u);
  EXPECT_EQ(ended(folder.start("solve none.npy b.npy -o y.npy", nothing, nothing, ends[1])), 1);
  EXPECT_EQ(ended(folder.start("solve --memmory 1MiB", nothing, nothing, ends[1])), 2);
  close(nothing);
  close(ends[1]);
}

TEST(Streams, ARecordTruncatedByAFullDiskIsAnError) {
  Folder folder;
  Answer answer =
      folder.run("bench cholesky --n 256 --tile 16 --memory 16MiB --progress none --record-flow /dev/full");
  EXPECT_EQ(answer.exit_code, 1);
  EXPECT_THAT(answer.errors, HasSubstr("record-flow: cannot write /dev/full: No space left"));
  EXPECT_THAT(answer.output, HasSubstr("Cholesky"));  // the results are printed nevertheless
  EXPECT_EQ(shell(folder,
                  "ulimit -f 16; fairlead bench cholesky --n 64 --tile 4 --memory 16MiB --progress none "
                  "--event-log log >said 2>errors"),
            1)
      << folder.content("errors");
  EXPECT_THAT(folder.content("errors"), HasSubstr("fairlead: log: cannot "));
  EXPECT_THAT(folder.content("errors"), HasSubstr("File too large"));
  EXPECT_EQ(folder.everything().count("log"), 0u);
}

// The directory of the spill file does not exist.
TEST(Streams, NoDirectoryIsNeededIfNothingCanSpill) {
  Folder folder;
  const std::string gone = "mkdir gone; cd gone; rmdir ../gone; ";
  EXPECT_EQ(shell(folder, gone + "fairlead bench cholesky --n 256 --memory 16MiB --progress none >/dev/null"),
            0);
  EXPECT_EQ(shell(folder, gone + "fairlead bench cholesky --n 1024 --tile 64 --workers 2 2>'" +
                              (folder.path() / "errors").string() + "'"),
            1);
  EXPECT_THAT(folder.content("errors"),
              HasSubstr("cannot create a spill file in the directory \".\": it has been removed"));
}

}  // namespace
}  // namespace fairlead::misuse
