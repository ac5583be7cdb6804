// Invalid arguments of the program: exit code 2, and a suggestion if there is one.
#include <gtest/gtest.h>

#include "misuse/command/folder.hpp"

namespace fairlead::misuse {
namespace {

class Usage : public testing::TestWithParam<Mistake> {};

TEST_P(Usage, IsRefused) {
  Folder folder;
  expect_refused(folder, GetParam().words, 2, GetParam().named);
}

constexpr Mistake usage_mistakes[] = {
    {"AMisspeltSubcommand", "slove A.npy b.npy -o x.npy", "\"slove\" (did you mean solve?)"},
    {"AMisspeltBenchmark", "bench choleski", "\"choleski\""},
    {"NoBenchmark", "bench", "WHAT"},
    {"AnUnknownOption", "solve A.npy b.npy -o x.npy --memmory 1GiB", "--memmory (did you mean --memory?)"},
    {"AnOptionOfAnotherSubcommand", "solve A.npy b.npy -o x.npy --n 40", "--n"},
    {"AMisspeltScheduler", "solve A.npy b.npy -o x.npy --scheduler dart", "dart: must be one of"},
    {"TileZero", "solve A.npy b.npy -o x.npy --tile 0", "--tile 0: must be at least 1"},
    {"ANegativeTile", "bench cholesky --n 64 --tile -4", "--tile -4"},
    {"ASizeThatIsNone", "solve A.npy b.npy -o x.npy --memory lots", "--memory lots"},
    {"MemoryOfOneKibibyte", "solve A.npy b.npy -o x.npy --memory 1KiB", "--memory 1KiB: must be at least"},
    {"MemoryTooSmallForTheSolve", "solve A.npy b.npy -o x.npy --memory 256KiB", "limit of 256 KiB"},
    {"MemoryTooSmallForTheBenchmark", "bench cholesky --n 512 --memory 64KiB", "limit of 64.0 KiB"},
    {"NoRows", "bench cholesky --n 0", "--n 0"},
    {"NoWorkers", "solve A.npy b.npy -o x.npy --workers 0", "--workers 0"},
    {"ABandwidthWithoutATime", "solve A.npy b.npy -o x.npy --disk-bandwidth 250MB", "--disk-bandwidth 250MB"},
    {"MoreWorkersThanTheBlasHasBuffersFor", "bench cholesky --n 64 --workers 1000",
     "1000 workers are more than the BLAS has buffers for"},
    {"NoOutput", "solve A.npy b.npy", "-o x.npy"},
    {"NoRightHandSide", "solve A.npy -o x.npy", "b.npy"},
    {"OneFileTooMany", "solve A.npy b.npy c.npy -o x.npy", "\"c.npy\""},
    {"AConfigurationFileThatIsMissing", "solve A.npy b.npy -o x.npy --config no.toml", "no.toml"},
};

INSTANTIATE_TEST_SUITE_P(Mistakes, Usage, testing::ValuesIn(usage_mistakes),
                         [](const auto& mistake) { return mistake.param.name; });

TEST(UsageOfEnvironment, AMisspeltVariable) {
  Folder folder;
  expect_refused(folder, "solve A.npy b.npy -o x.npy", 2, "FAIRLEAD_MEMMORY (did you mean FAIRLEAD_MEMORY?)",
                 {"FAIRLEAD_MEMMORY=1GiB"});
}

TEST(UsageOfEnvironment, AValueOutOfRange) {
  Folder folder;
  expect_refused(folder, "solve A.npy b.npy -o x.npy", 2, "FAIRLEAD_TILE", {"FAIRLEAD_TILE=0"});
}

TEST(UsageOfFile, AnUnknownKey) {
  Folder folder;
  folder.file("my.toml", "tile = 64\nmemmory = \"1GiB\"\n");
  expect_refused(folder, "solve A.npy b.npy -o x.npy --config my.toml", 2, "memmory");
}

// Three tiles of a task do not fit, though some memory remains for tiles.
TEST(UsageOfMemory, ATaskThatCanNeverFit) {
  Folder folder;
  expect_refused(folder, "bench cholesky --n 1536 --tile 512 --memory 6MiB --workers 1", 1, "needs 6 MiB");
}

}  // namespace
}  // namespace fairlead::misuse
