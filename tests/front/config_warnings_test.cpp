// Warnings about settings that are valid but probably unintended: more memory than the machine or its control
// group has, for one rank or for all ranks of a node together.
#include "front/runtime/config_warnings.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "machine/planted.hpp"

namespace fairlead::front {
namespace {

using machine::Planted;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

/// The warnings for `ranks` with `memory` each, on the machine whose files are planted.
std::vector<std::string> warnings(const Planted& planted, const std::string& memory, std::size_t ranks) {
  Config config;
  config.set("workers", 1);
  if (!memory.empty()) config.set("memory", memory);
  return config_warnings(config, machine::discover({planted.root(), {}}), ranks);
}

TEST(ConfigWarnings, WarnIfTheMemoryLimitExceedsTheMachine) {
  Planted planted;
  planted.host();
  EXPECT_THAT(warnings(planted, "64GiB", 1), IsEmpty());
  EXPECT_THAT(warnings(planted, "65GiB", 1),
              ElementsAre(AllOf(HasSubstr("65GiB"), HasSubstr("64.0 GiB that this machine has"))));
  EXPECT_THAT(warnings(planted, "", 100), IsEmpty()) << "shares are made of what there is";
}

TEST(ConfigWarnings, WarnIfTheSumOverRanksExceedsTheMachine) {
  Planted planted;
  planted.host();
  EXPECT_THAT(warnings(planted, "32GiB", 2), IsEmpty());
  EXPECT_THAT(warnings(planted, "33GiB", 2),
              ElementsAre(AllOf(HasSubstr("2 ranks on this machine with 33.0 GiB"), HasSubstr("66.0 GiB"),
                                HasSubstr("64.0 GiB that it has"), HasSubstr("Each may have 32.0 GiB"))));
  EXPECT_THAT(warnings(planted, "16GiB", 4), IsEmpty());
  EXPECT_THAT(warnings(planted, "16GiB", 5), ElementsAre(HasSubstr("80.0 GiB")));
}

TEST(ConfigWarnings, CompareTheSumOverRanksWithTheControlGroup) {
  for (const bool first_version : {false, true}) {
    Planted planted;
    planted.host();
    const std::string limit = std::to_string(16 * machine::GiB);
    if (first_version)
      planted.v1("/job").v1_memory("/sys/fs/cgroup/memory/job", limit, "0", "0");
    else
      planted.v2("/job").v2_memory("/sys/fs/cgroup/job", limit, "0", "0");
    EXPECT_THAT(warnings(planted, "16GiB", 1), IsEmpty()) << first_version;
    EXPECT_THAT(warnings(planted, "17GiB", 1), ElementsAre(HasSubstr("16.0 GiB that its control group")));
    EXPECT_THAT(warnings(planted, "8GiB", 2), IsEmpty()) << first_version;
    EXPECT_THAT(warnings(planted, "9GiB", 2),
                ElementsAre(AllOf(HasSubstr("18.0 GiB"), HasSubstr("16.0 GiB that its control group"),
                                  HasSubstr("Each may have 8.0 GiB"))));
  }
}

TEST(ConfigWarnings, WarnAboutAFormerNameOfAScheduler) {
  const auto warnings_of = [](const char* scheduler) {
    Config config;
    config.set("scheduler", scheduler);
    return config_warnings(config, machine::discover());
  };
  EXPECT_EQ(warnings_of("rehearsed:first=near"),
            std::vector<std::string>{
                "the scheduler rehearsed is now called what-if; the old name will be removed after 0.1"});
  EXPECT_TRUE(warnings_of("what-if").empty());
}

TEST(ConfigWarnings, NameTheCurrentNameOfASetting) {
  Config config;
  config.set("fast-path", false);
  EXPECT_THAT(config_warnings(config, machine::discover()), IsEmpty());
  config.set("direct-lane", false);
  EXPECT_THAT(config_warnings(config, machine::discover()),
              ElementsAre(HasSubstr("the setting direct-lane is now called fast-path; the old name")));
}

}  // namespace
}  // namespace fairlead::front
