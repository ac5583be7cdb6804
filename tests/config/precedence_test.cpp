// default < file < environment < command line < code
#include <fairlead/config.hpp>

#include "config/write.hpp"

namespace fairlead {

TEST(Precedence, WithoutAnySourceTheDefaultApplies) {
  const Config config = config_of({});
  EXPECT_EQ(config.count("disk-threads"), 4u);
  EXPECT_EQ(report_of(config, "disk-threads").origin, Origin::default_value);
  EXPECT_EQ(report_of(config, "disk-threads").where, "");
}

TEST(Precedence, ASettingMayHaveNoValueByDefault) {
  const Config config;
  EXPECT_FALSE(config.has("memory"));
  EXPECT_EQ(config.bytes_or("memory", 7), 7u);
  EXPECT_EQ(config.written("memory"), "auto");
}

TEST(Precedence, MemoryMayBeAShareOfTheMachines) {
  const Config half = config_of({"--memory", "50%"}), all = config_of({}, {{"FAIRLEAD_MEMORY", "100%"}});
  EXPECT_EQ(half.written("memory"), "50%");
  EXPECT_GT(half.bytes("memory"), Bytes(1) << 20);
  EXPECT_NEAR(static_cast<double>(all.bytes("memory")), 2 * static_cast<double>(half.bytes("memory")), 2);
  const TemporaryDirectory directory;
  EXPECT_EQ(config_of({"--config", directory.write("a.toml", "memory = 1e9\n")}).bytes("memory"),
            1'000'000'000u);
}

TEST(Precedence, TheFileWinsOverTheDefault) {
  const TemporaryDirectory directory;
  const std::string file = directory.write("a.toml", "\ndisk-threads = 5\n");
  const Config config = config_of({"--config", file});
  EXPECT_EQ(config.count("disk-threads"), 5u);
  EXPECT_EQ(report_of(config, "disk-threads").origin, Origin::file);
  EXPECT_EQ(report_of(config, "disk-threads").where, file + ":2");
}

TEST(Precedence, TheEnvironmentWinsOverTheFile) {
  const TemporaryDirectory directory;
  const std::string file = directory.write("a.toml", "disk-threads = 5");
  const Config config = config_of({"--config", file}, {{"FAIRLEAD_DISK_THREADS", "6"}});
  EXPECT_EQ(config.count("disk-threads"), 6u);
  EXPECT_EQ(report_of(config, "disk-threads").origin, Origin::environment);
  EXPECT_EQ(report_of(config, "disk-threads").where, "FAIRLEAD_DISK_THREADS");
}

TEST(Precedence, TheCommandLineWinsOverTheEnvironment) {
  const Config config = config_of({"--disk-threads", "7"}, {{"FAIRLEAD_DISK_THREADS", "6"}});
  EXPECT_EQ(config.count("disk-threads"), 7u);
  EXPECT_EQ(report_of(config, "disk-threads").origin, Origin::command_line);
  EXPECT_EQ(report_of(config, "disk-threads").where, "--disk-threads");
}

TEST(Precedence, CodeWinsOverTheCommandLine) {
  Config config = config_of({"--disk-threads", "7"});
  config.set("disk-threads", 8);
  EXPECT_EQ(config.count("disk-threads"), 8u);
  EXPECT_EQ(report_of(config, "disk-threads").origin, Origin::code);
  EXPECT_TRUE(report_of(config, "disk-threads").where.starts_with("precedence_test.cpp:"));
}

TEST(Precedence, AStrongerSourceCanRemoveAValue) {
  const Config config =
      config_of({"--disk-bandwidth", "unlimited"}, {{"FAIRLEAD_DISK_BANDWIDTH", "250MB/s"}});
  EXPECT_FALSE(config.has("disk-bandwidth"));
  EXPECT_EQ(report_of(config, "disk-bandwidth").origin, Origin::command_line);
}

TEST(Precedence, TheLastOfRepeatedOptionsWins) {
  EXPECT_EQ(config_of({"--tile", "1", "--tile=2"}).count("tile"), 2u);
  EXPECT_FALSE(config_of({"--bind-threads", "--no-bind-threads"}).flag("bind-threads"));
}

TEST(Precedence, AFlagIsSwitchedOffOnTheCommandLine) {
  const Config config = config_of({"--no-huge-pages"});
  EXPECT_FALSE(config.flag("huge-pages"));
  EXPECT_EQ(report_of(config, "huge-pages").where, "--no-huge-pages");
  EXPECT_TRUE(config_of({"--huge-pages"}, {{"FAIRLEAD_HUGE_PAGES", "off"}}).flag("huge-pages"));
}

// The file that is read.

TEST(ConfigFile, TheOptionWinsOverTheVariableAndThatOverTheUsualPlace) {
  const TemporaryDirectory directory;
  directory.write("fairlead/config.toml", "tile = 1");
  const std::string second = directory.write("second.toml", "tile = 2");
  const std::string third = directory.write("third.toml", "tile = 3");
  config::Environment environment{{"XDG_CONFIG_HOME", directory.path()}};
  EXPECT_EQ(config_of({}, environment).count("tile"), 1u);
  environment["FAIRLEAD_CONFIG"] = second;
  EXPECT_EQ(config_of({}, environment).count("tile"), 2u);
  EXPECT_EQ(config_of({"--config", third}, environment).count("tile"), 3u);
  EXPECT_FALSE(config_of({"--config", "none"}, environment).has("tile"));
}

TEST(ConfigFile, TheUsualPlaceIsBelowHomeWithoutTheXdgVariable) {
  const TemporaryDirectory directory;
  directory.write(".config/fairlead/config.toml", "tile = 9");
  EXPECT_EQ(config_of({}, {{"HOME", directory.path()}}).count("tile"), 9u);
}

TEST(ConfigFile, EveryTypeIsWrittenAsToml) {
  const TemporaryDirectory directory;
  const Config config = config_of({"--config", directory.write("a.toml", R"(
memory = 1048576
disk-bandwidth = "1.5GB/s"
disk-directory = "/scratch"
workers = 3
bind-threads = false
progress = "lines"
tile = "auto"
)")});
  EXPECT_EQ(config.bytes("memory"), 1048576u);
  EXPECT_EQ(config.bandwidth_bytes_per_second("disk-bandwidth"), 1'500'000'000u);
  EXPECT_EQ(config.text("disk-directory"), "/scratch");
  EXPECT_EQ(config.count("workers"), 3u);
  EXPECT_FALSE(config.flag("bind-threads"));
  EXPECT_EQ(config.text("progress"), "lines");
  EXPECT_FALSE(config.has("tile"));
}

TEST(CacheDirectory, FollowsTheXdgVariableAndOtherwiseHome) {
  EXPECT_EQ(config_of({}, {{"HOME", "/users/a"}}).text("cache-directory"), "/users/a/.cache/fairlead");
  const Config config = config_of({}, {{"HOME", "/users/a"}, {"XDG_CACHE_HOME", "/fast"}});
  EXPECT_EQ(config.text("cache-directory"), "/fast/fairlead");
  EXPECT_EQ(report_of(config, "cache-directory").origin, Origin::default_value);
  EXPECT_FALSE(config_of({}).has("cache-directory"));
}

TEST(Precedence, AFormerNameOfASettingIsAcceptedFromEachSource) {
  const TemporaryDirectory directory;
  const std::string file = directory.write("a.toml", "direct-lane = false");
  Config in_code;
  in_code.set("direct-lane", false);
  const Config configs[] = {config_of({"--config", file}), config_of({}, {{"FAIRLEAD_DIRECT_LANE", "false"}}),
                            config_of({"--no-direct-lane"}), config_of({"--direct-lane=false"}), in_code};
  for (const Config& config : configs) {
    EXPECT_FALSE(config.flag("fast-path"));
    EXPECT_FALSE(config.flag("direct-lane"));
    EXPECT_EQ(report_of(config, "fast-path").former_name, "direct-lane");
  }
  EXPECT_EQ(report_of(configs[2], "fast-path").where, "--no-direct-lane");
  // A stronger source, and the current name, replace it.
  EXPECT_EQ(
      report_of(config_of({"--fast-path"}, {{"FAIRLEAD_DIRECT_LANE", "false"}}), "fast-path").former_name,
      "");
  EXPECT_TRUE(config_of({"--fast-path", "--no-direct-lane"}).flag("fast-path"));
}

TEST(Precedence, MessagesNameASettingAsItWasGiven) {
  EXPECT_TRUE(mistake([] { config_of({"--direct-lane=7"}); }).starts_with("--direct-lane=7: "));
}

}  // namespace fairlead
