// Output files of ranks: each rank writes its own events and flow to its own files.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>
#include <fairlead/flow.hpp>

#include <filesystem>
#include <string>
#include <vector>

#include "engine/event_log.hpp"
#include "front/ranks/file_of_rank.hpp"
#include "on_ranks.hpp"
#include "simulate/flow_file.hpp"

namespace fairlead {
namespace {

using testing::ElementsAre;

class FilesOfRanks : public testing::Test {
 protected:
  FilesOfRanks() { std::filesystem::create_directory(folder); }
  ~FilesOfRanks() override { std::filesystem::remove_all(folder); }

  std::string path(const std::string& name) const { return (folder / name).string(); }
  /// Each rank runs a task that writes its number to a datum of its own.
  std::vector<std::string> run(std::uint32_t ranks) const {
    const auto config_of = [&](std::uint32_t) {
      Config config;
      config.set("workers", 1);
      config.set("memory", "1MiB");
      config.set("event-log", path("run.log"));
      config.set("record-flow", path("flow"));
      return config;
    };
    return tests::on_ranks(ranks, config_of, [](Runtime& runtime) {
      const auto named =
          codelet("of rank " + std::to_string(runtime.rank())).cpu([](InOut<double> x) { *x += 1; });
      double x = 0;
      const auto handle = runtime.value("x", x);
      Flow flow(runtime);
      for (std::uint32_t i = 0; i <= runtime.rank(); ++i) flow.submit(named(handle));
      flow.wait();
    });
  }

  const std::filesystem::path folder{testing::TempDir() + "files-of-ranks-" + std::to_string(getpid())};
};

TEST_F(FilesOfRanks, EachRankWritesItsOwnEventsAndItsOwnFlow) {
  EXPECT_THAT(run(2), ElementsAre("", ""));
  for (const std::string name : {"run.log", "run.rank1.log"})
    EXPECT_NO_THROW(engine::EventLog::read(path(name))) << name;
  const auto flow = [&](const std::string& name) {
    return simulate::read_flow_file(path(name), simulate::Precision::double_).program;
  };
  EXPECT_THAT(flow("flow").kernels, ElementsAre("of rank 0"));
  EXPECT_EQ(flow("flow").tasks.size(), 1u);
  EXPECT_THAT(flow("flow.rank1").kernels, ElementsAre("of rank 1"));
  EXPECT_EQ(flow("flow.rank1").tasks.size(), 2u);
}
TEST_F(FilesOfRanks, ASingleRankWritesTheNamedFiles) {
  EXPECT_THAT(run(1), ElementsAre(""));
  EXPECT_TRUE(std::filesystem::exists(path("run.log")));
  EXPECT_TRUE(std::filesystem::exists(path("flow")));
}
TEST_F(FilesOfRanks, DeviceFilesGetNoRankSuffix) {
  EXPECT_EQ(front::file_of_rank("/dev/null", 3), "/dev/null");
  EXPECT_EQ(front::file_of_rank("some.folder/run", 3), "some.folder/run.rank3");
}

}  // namespace
}  // namespace fairlead
