// The recording of a real factorization equals, in the simulator, the workload of that name.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>

#include "command/answer.hpp"
#include "sanitized.hpp"

namespace fairlead {
namespace {

using testing::HasSubstr;

class Recorded : public testing::Test {
 protected:
  void SetUp() override { std::filesystem::create_directories(folder_); }
  void TearDown() override { std::filesystem::remove_all(folder_); }
  std::string path(const std::string& name) const { return (folder_ / name).string(); }
  nlohmann::json json(const std::string& name) const {
    std::ifstream stream(path(name));
    return nlohmann::json::parse(stream);
  }

 private:
  std::filesystem::path folder_ =
      std::filesystem::temp_directory_path() / ("fairlead-recorded-" + std::to_string(getpid()));
};

TEST_F(Recorded, CholeskyGivesTheCommandsOfTheWorkload) {
  const Answer bench =
      fairlead_command("bench cholesky --n 2048 --tile 256 --cache-directory " + path("cache") +
                       " --disk-directory " + path("") + " --record-flow " + path("run.flow"));
  ASSERT_EQ(bench.exit_code, 0) << bench.text;
  for (const char* where :
       {"--machine v100-pcie --gpus 2 --memory 8MiB", "--machine h200", "--machine summit"}) {
    if (tests::sanitized && std::string_view(where) != "--machine h200") continue;
    const std::string how =
        std::string(where) + " --scheduler darts,dmda,blocks,lws --noise 10 --seed 3 --json ";
    const Answer recorded = fairlead_command("simulate --recorded " + path("run.flow") + " --phase 2 " + how +
                                             path("recorded.json"));
    ASSERT_EQ(recorded.exit_code, 0) << recorded.text;
    const Answer workload =
        fairlead_command("simulate cholesky --n 2048 --tile 256 " + how + path("workload.json"));
    ASSERT_EQ(workload.exit_code, 0) << workload.text;
    const auto a = json("recorded.json"), b = json("workload.json");
    ASSERT_EQ(a.size(), 4u);
    for (std::size_t i = 0; i < a.size(); ++i)
      for (const char* key : {"scheduler", "tasks", "seconds", "bytes_to_devices", "bytes_from_devices",
                              "bytes_between_devices", "evictions", "command_digest"})
        EXPECT_EQ(a[i][key], b[i][key]) << where << ": " << key;
  }
  const Answer whole = fairlead_command("simulate --machine h200 --recorded " + path("run.flow"));
  EXPECT_EQ(whole.exit_code, 2);
  EXPECT_THAT(whole.text, HasSubstr("machine h200 that is used can run generate in double precision"));
}

// The same tasks on the same data, V and T among them: so each is copied once where all of them fit. (The
// simulator predicts the durations of its kernels from their sides, which a recorded flow lacks.)
TEST_F(Recorded, QrHasTheTasksAndTheDataOfTheWorkload) {
  for (const std::string tree : {"flat", "binary"}) {
    if (tests::sanitized && tree != "binary") continue;
    const Answer bench = fairlead_command(
        "bench qr --m 1700 --n 1000 --tile 128 --tree " + tree + " --memory 200MiB --cache-directory " +
        path("cache") + " --disk-directory " + path("") + " --record-flow " + path("run.flow"));
    ASSERT_EQ(bench.exit_code, 0) << bench.text;
    const std::string how = " --machine v100-pcie --gpus 1 --memory 400MiB --scheduler eager --json ";
    const Answer recorded = fairlead_command("simulate --recorded " + path("run.flow") + " --phase 2" + how +
                                             path("recorded.json"));
    ASSERT_EQ(recorded.exit_code, 0) << recorded.text;
    const Answer workload = fairlead_command("simulate qr:columns=1000:ib=21:tree=" + tree +
                                             " --n 1700 --tile 128" + how + path("workload.json"));
    ASSERT_EQ(workload.exit_code, 0) << workload.text;
    const auto a = json("recorded.json"), b = json("workload.json");
    for (const char* key : {"tasks", "bytes_to_devices", "bytes_from_devices"})
      EXPECT_EQ(a[0][key], b[0][key]) << tree << ": " << key;
  }
}

TEST_F(Recorded, IsRefusedWithConflictingOptions) {
  const auto refused = [](const std::string& words, int code, const char* why) {
    const Answer answer = fairlead_command(words);
    EXPECT_EQ(answer.exit_code, code) << answer.text;
    EXPECT_THAT(answer.text, HasSubstr(why));
  };
  std::ofstream(path("other")) << "name = \"h200\"\n";
  refused("simulate --recorded " + path("no"), 1, "cannot be read");
  refused("simulate --recorded " + path("other"), 1, "other:1: this is no recorded flow");
  refused("simulate cholesky --recorded " + path("other"), 2, "--recorded takes no workload");
  refused("simulate --n 7 --recorded " + path("other"), 2, "--n has no effect with --recorded");
  refused("simulate cholesky --phase 2", 2, "--phase requires --recorded");
}

}  // namespace
}  // namespace fairlead
