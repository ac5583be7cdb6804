// The default scheduling policy, for data that fit in RAM or an accelerator's memory and for data that do
// not.
#include <gtest/gtest.h>
#include <fairlead/fairlead.hpp>

#include <string>
#include <vector>

#include "engine/runtime_core.hpp"
#include "front/runtime/runtime_access.hpp"
#include "on_ranks.hpp"

namespace fairlead {
namespace {

constexpr const char* fits = "lws";
constexpr const char* fits_devices = "what-if";
constexpr const char* does_not_fit = "what-if";

struct AutomaticPolicy : testing::Test {
  static Config settings(const char* devices) {
    Config config;
    config.set("workers", 2);
    config.set("memory", "2MiB");
    config.set("bind-threads", false);
    if (*devices != 0) config.set("devices", devices);
    return config;
  }
  static std::string policy_of(Runtime& runtime) {
    return front::core_of(runtime).engine().options().policy_name;
  }
  /// The policy after the registration of a 512 KiB matrix in the runtime's memory, in 128 x 128 tiles.
  static std::string with_kept(const char* devices, const char* scheduler = nullptr) {
    Config config = settings(devices);
    if (scheduler != nullptr) config.set("scheduler", scheduler);
    Runtime runtime(config);
    const auto a = runtime.tiled<double>("A", 256, 256, 128);
    return policy_of(runtime);
  }
};

}  // namespace

TEST_F(AutomaticPolicy, IsTheCheapestIfAllDataFit) {
  EXPECT_EQ(with_kept(""), fits);
  EXPECT_EQ(with_kept("emulated:memory=512KiB"), fits_devices);
  EXPECT_EQ(with_kept("emulated:memory=512KiB + emulated:memory=1MiB"), fits_devices);
}

TEST_F(AutomaticPolicy, SimulatesIfDataExceedAMemory) {
  EXPECT_EQ(with_kept("emulated:memory=384KiB"), does_not_fit);
  EXPECT_EQ(with_kept("emulated:memory=1MiB + emulated:memory=384KiB"), does_not_fit);
  Runtime runtime(settings(""));
  const auto a = runtime.tiled<double>("A", 768, 768, 128);  // 4.5 MiB
  EXPECT_EQ(policy_of(runtime), does_not_fit);
}

TEST_F(AutomaticPolicy, CountsUserMemoryOnlyIfItMustBeCopied) {
  std::vector<double> matrix(256 * 256), vector(65536);
  for (const bool device : {false, true}) {
    Runtime runtime(settings(device ? "emulated:memory=384KiB" : ""));
    const auto a = runtime.tiled_in_place("A", matrix.data(), 256, 256, 256, 128);
    EXPECT_EQ(policy_of(runtime), device ? does_not_fit : fits);
  }
  Runtime runtime(settings("emulated:memory=768KiB"));
  const auto a = runtime.tiled_in_place("A", matrix.data(), 256, 256, 256, 128);
  EXPECT_EQ(policy_of(runtime), fits_devices);
  static_cast<void>(runtime.vector("x", vector.data(), 65536));
  EXPECT_EQ(policy_of(runtime), does_not_fit);
}

// Ranks wait for each other's panels and see few tasks ahead. A single rank does not.
TEST_F(AutomaticPolicy, PrefersUrgentTasksOnSeveralRanks) {
  for (const std::uint32_t count : {1u, 2u, 3u})
    for (const char* devices : {"", "emulated:memory=512KiB"})
      for (const std::int64_t n : {256, 768}) {
        const bool exceeds = n == 768;
        const std::vector<std::string> thrown = tests::on_ranks(
            count, [&](std::uint32_t) { return settings(devices); },
            [&](Runtime& runtime) {
              const auto a = runtime.tiled<double>("A", n, n, 128);
              const std::string expected = *devices != 0 ? "what-if"
                                           : count > 1   ? "near"
                                           : exceeds     ? does_not_fit
                                                         : fits;
              EXPECT_EQ(policy_of(runtime), expected) << count << " ranks, " << devices << ", n = " << n;
            });
        EXPECT_EQ(thrown, std::vector<std::string>(count));
      }
}

TEST_F(AutomaticPolicy, IsNotUsedIfTheConfigurationNamesAPolicy) {
  EXPECT_EQ(with_kept("emulated:memory=384KiB", "eager"), "eager");
  EXPECT_EQ(with_kept("emulated:memory=384KiB", "lws"), "lws");
}

}  // namespace fairlead
