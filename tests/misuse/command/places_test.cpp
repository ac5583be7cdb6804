// Places that cannot be written to: full, read-only, missing, or no directory at all.
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>

#include "misuse/command/folder.hpp"

namespace fairlead::misuse {
namespace {

// The solution of many columns is larger than the disk.
void many_columns(Folder& folder) {
  folder.array("b.npy", "<f8", "(40, 2000)", bytes_of(std::vector<double>(80000, 1.0)));
}

TEST(Places, AFullDiskForTheOutput) {
  Folder folder;
  many_columns(folder);
  if (!folder.mount("small", 256 * 1024)) GTEST_SKIP() << "mounting a small disk takes root";
  expect_refused(folder, "solve A.npy b.npy -o small/x.npy", 1, "small/x.npy: cannot set 640128 bytes aside");
}

TEST(Places, AFullDiskForTheSpillFile) {
  Folder folder;
  if (!folder.mount("small", 256 * 1024)) GTEST_SKIP() << "mounting a small disk takes root";
  expect_refused(folder, "bench cholesky --n 1024 --memory 16MiB --disk-directory small", 1,
                 "the spill file in the directory \"small\" needs");
}

TEST(Places, AFullDiskForTheReport) {
  Folder folder;
  if (!folder.mount("small", 4096)) GTEST_SKIP() << "mounting a small disk takes root";
  folder.file("small/rest", std::string(4096, 'x'));
  const auto before = folder.everything();
  const Answer answer =
      folder.run("bench cholesky --n 64 --memory 8MiB --json small/report.json --progress none");
  EXPECT_EQ(answer.exit_code, 1);
  EXPECT_NE(answer.errors.find("fairlead: small/report.json: "), std::string::npos) << answer.errors;
  EXPECT_EQ(folder.everything(), before);
}

// For all subcommands, and all options that name files.
TEST(Places, AFileThatIsReadIsNotWritten) {
  Folder folder;
  folder.file("flow", "");
  folder.file("machine.toml", "");
  folder.file("settings.toml", "seed = 1\n");
  folder.file("policy.so", "");
  folder.file("tables.toml", "");
  std::filesystem::create_symlink("flow", folder.path() / "link");
  for (const char* words :
       {"simulate --recorded flow --json flow", "simulate --recorded flow --csv link",
        "simulate --recorded link --report flow", "simulate --recorded flow --trace ./flow",
        "simulate --recorded flow --event-log flow",
        "simulate cholesky --machine ./machine.toml --csv machine.toml",
        "compare cholesky --machine ./machine.toml --json machine.toml",
        "compare cholesky --scheduler eager,./policy.so:x=1 --csv policy.so",
        "simulate cholesky --config settings.toml --json settings.toml",
        "bench cholesky --n 64 --config settings.toml --record-flow settings.toml",
        "bench cholesky --n 64 --scheduler ./policy.so --json policy.so",
        "calibrate --config settings.toml --machine-file settings.toml",
        "experiment run ./tables.toml --markdown tables.toml"}) {
    SCOPED_TRACE(words);
    expect_refused(folder, words, 2, "which is read: it would be lost");
  }
  for (const char* words : {"simulate cholesky --json a --csv a", "compare cholesky --csv a --json ./a",
                            "bench cholesky --n 64 --trace a --json a",
                            "calibrate --devices emulated:memory=1MiB --machine-file a --json ./a"}) {
    SCOPED_TRACE(words);
    expect_refused(folder, words, 2, "are the same file: one would replace the other");
  }
}

TEST(Places, AReadOnlyDirectory) {
  Folder folder;
  const char* reason = nullptr;
  if (geteuid() == 0) {  // ignores permissions
    if (!folder.mount("still", 65536, true)) GTEST_SKIP() << "this root may not mount";
    reason = "Read-only file system";
  } else {
    std::filesystem::create_directory(folder.path() / "still");
    std::filesystem::permissions(folder.path() / "still", std::filesystem::perms(0555));
    reason = "Permission denied";
  }
  expect_refused(folder, "solve A.npy b.npy -o still/x.npy", 1,
                 std::string("still/x.npy: cannot make a file in the directory \"still\": ") + reason);
  expect_refused(folder, "solve A.npy b.npy -o x.npy --disk-directory still", 1,
                 "cannot create a spill file in the directory \"still\": " + std::string(reason));
  expect_refused(folder, "solve A.npy b.npy -o x.npy --json still/report.json", 1, "still/report.json");
  expect_refused(folder, "solve A.npy b.npy -o x.npy --event-log still/log", 1, "still/log");
}

struct Place {
  const char* name;
  const char* words;
  const char* named;
};

class MissingPlace : public testing::TestWithParam<Place> {};

TEST_P(MissingPlace, IsRefusedBeforeAnyWork) {
  Folder folder;
  expect_refused(folder, GetParam().words, 1, GetParam().named);
}

INSTANTIATE_TEST_SUITE_P(
    Places, MissingPlace,
    testing::Values(
        Place{"ForTheOutput", "solve A.npy b.npy -o no/x.npy", "no/x.npy: cannot make a file"},
        Place{"ForTheOutputAFile", "solve A.npy b.npy -o A.npy/x.npy", "A.npy/x.npy"},
        Place{"ForTheOutputTheFolderItself", "solve A.npy b.npy -o .", ".: cannot be written"},
        Place{"ForTheSpillFile", "solve A.npy b.npy -o x.npy --disk-directory no", "\"no\""},
        Place{"ForTheSpillFileAFile", "solve A.npy b.npy -o x.npy --disk-directory b.npy", "\"b.npy\""},
        Place{"ForTheReport", "solve A.npy b.npy -o x.npy --json no/report.json", "no/report.json"},
        Place{"ForTheReportOfABenchmark", "bench cholesky --n 64 --memory 8MiB --json no/report.json",
              "no/report.json"},
        Place{"ForTheEventLog", "solve A.npy b.npy -o x.npy --event-log no/log", "no/log"},
        Place{"OfABlas", "solve A.npy b.npy -o x.npy --blas no/libblas.so", "no/libblas.so"}),
    [](const auto& place) { return place.param.name; });

}  // namespace
}  // namespace fairlead::misuse
