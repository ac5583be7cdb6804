// Error messages name the mistake, its place and the nearest valid key. The texts are exact: scripts search
// for them.
#include <fairlead/config.hpp>

#include "config/write.hpp"

#include <array>

namespace fairlead {

namespace {

std::string on_command_line(std::vector<std::string> arguments) {
  return mistake([&] { config_of(std::move(arguments)); });
}

std::string in_environment(const std::string& name, const std::string& value) {
  return mistake([&] { config_of({}, {{name, value}}); });
}

/// The file's path is cut off: "a.toml:1: ...".
std::string in_file(const std::string& text) {
  const TemporaryDirectory directory;
  const std::string file = directory.write("a.toml", text);
  const std::string said = mistake([&] { config_of({"--config", file}); });
  const std::string above = directory.path().string() + "/";
  return said.starts_with(above) ? said.substr(above.size()) : said;
}

}  // namespace

TEST(CommandLineMistakes, AnUnknownOptionIsNamedWithTheNearest) {
  EXPECT_EQ(on_command_line({"--memmory", "512MiB"}), "unknown option --memmory (did you mean --memory?)");
  EXPECT_EQ(on_command_line({"--memmory=512MiB"}), "unknown option --memmory (did you mean --memory?)");
  EXPECT_EQ(on_command_line({"--no-bind-thread"}),
            "unknown option --no-bind-thread (did you mean --no-bind-threads?)");
  EXPECT_EQ(on_command_line({"--zebra"}), "unknown option --zebra");
  EXPECT_EQ(on_command_line({"-z"}), "unknown option -z");
}

TEST(CommandLineMistakes, AValueOfTheWrongTypeIsQuotedWithItsOption) {
  EXPECT_EQ(on_command_line({"--memory", "lots"}),
            "--memory lots: not a size; write bytes, or a number with a unit, as in 512MiB, 2GB, 2G "
            "(= 2GiB) or 1e9");
  EXPECT_EQ(on_command_line({"--disk-bandwidth", "250MB"}),
            "--disk-bandwidth 250MB: not a bandwidth; write a size per second, as in 250MB/s");
  EXPECT_EQ(on_command_line({"--workers", "two"}), "--workers two: not a whole number of 0 or more");
  EXPECT_EQ(on_command_line({"--seed", "-1"}), "--seed -1: not a whole number of 0 or more");
  EXPECT_EQ(on_command_line({"--huge-pages=perhaps"}), "--huge-pages=perhaps: must be true or false");
  EXPECT_EQ(on_command_line({"--progress", "line"}),
            "--progress line: must be one of auto, bar, lines, none (did you mean lines?)");
  EXPECT_EQ(on_command_line({"--disk-directory", ""}), "--disk-directory : must not be empty");
}

TEST(CommandLineMistakes, AValueOutOfRangeIsRefusedWithTheRange) {
  EXPECT_EQ(on_command_line({"--tile", "0"}), "--tile 0: must be at least 1");
  EXPECT_EQ(on_command_line({"--memory", "1KiB"}), "--memory 1KiB: must be at least 64KiB");
  EXPECT_EQ(on_command_line({"--disk-threads", "257"}), "--disk-threads 257: must be between 1 and 256");
  EXPECT_EQ(on_command_line({"--spin", "1000001"}), "--spin 1000001: must be at most 1000000");
}

TEST(CommandLineMistakes, AnOptionWithoutItsValueIsNamed) {
  EXPECT_EQ(on_command_line({"--memory"}), "option --memory needs a value");
  EXPECT_EQ(on_command_line({"--memory", "--tile", "512"}), "option --memory needs a value");
  EXPECT_EQ(on_command_line({"--config"}), "option --config needs a value");
  EXPECT_EQ(on_command_line({"--config="}), "option --config needs a value");
}

TEST(CommandLineMistakes, AnUnexpectedArgumentIsNamed) {
  EXPECT_EQ(on_command_line({"A.npy"}), "unexpected argument \"A.npy\"");
  EXPECT_EQ(on_command_line({"--", "--memory"}), "unexpected argument \"--memory\"");
}

TEST(EnvironmentMistakes, AnUnknownVariableIsNamedWithTheNearest) {
  EXPECT_EQ(in_environment("FAIRLEAD_MEMMORY", "1GB"),
            "unknown environment variable FAIRLEAD_MEMMORY (did you mean FAIRLEAD_MEMORY?)");
  EXPECT_EQ(in_environment("FAIRLEAD_ZEBRA", "1"), "unknown environment variable FAIRLEAD_ZEBRA");
  EXPECT_EQ(in_environment("FAIRLEADER", "1"), "(nothing was thrown)");
}

TEST(EnvironmentMistakes, AValueIsQuotedWithItsVariable) {
  EXPECT_EQ(in_environment("FAIRLEAD_WORKERS", "0"), "FAIRLEAD_WORKERS=0: must be between 1 and 65534");
  EXPECT_EQ(in_environment("FAIRLEAD_WORKERS", ""), "FAIRLEAD_WORKERS=: not a whole number of 0 or more");
}

TEST(FileMistakes, AnUnknownKeyIsNamedWithItsLineAndTheNearest) {
  EXPECT_EQ(in_file("\n\ndisk_threads = 4"),
            "a.toml:3: unknown key \"disk_threads\" (did you mean \"disk-threads\"?)");
  EXPECT_EQ(in_file("zebra = 1"), "a.toml:1: unknown key \"zebra\"");
  EXPECT_EQ(in_file("[disk]\nthreads = 4"),
            "a.toml:1: unknown table [disk]; settings are written without tables, as in disk-threads = 4");
}

TEST(FileMistakes, AValueOfTheWrongTypeIsQuotedWithItsLine) {
  EXPECT_EQ(in_file("workers = \"4\""), "a.toml:1: workers = \"4\": must be a whole number, not a string");
  EXPECT_EQ(in_file("bind-threads = 1"), "a.toml:1: bind-threads = 1: must be true or false, not a number");
  EXPECT_EQ(in_file("bind-threads = \"no\""),
            "a.toml:1: bind-threads = \"no\": must be true or false, not a string");
  EXPECT_EQ(in_file("disk-bandwidth = 250"),
            "a.toml:1: disk-bandwidth = 250: must be a string such as \"250MB/s\", not a number");
  EXPECT_EQ(in_file("workers = 1.5"), "a.toml:1: workers = 1.5: not a whole number of 0 or more");
  EXPECT_EQ(in_file("workers = -1"), "a.toml:1: workers = -1: not a whole number of 0 or more");
  EXPECT_EQ(in_file("workers = true"), "a.toml:1: workers = true: must be a number, not true or false");
  EXPECT_EQ(in_file("json = [\"a\"]"),
            "a.toml:1: json = ...: must be a single value, not a list, a table or a date");
  EXPECT_EQ(in_file("memory = \"lots\""),
            "a.toml:1: memory = \"lots\": not a size; write bytes, or a number with a unit, as in 512MiB, "
            "2GB, 2G (= 2GiB) or 1e9");
}

TEST(FileMistakes, AFileThatIsNotTomlIsNamedWithTheLine) {
  EXPECT_TRUE(in_file("tile = 1\ntile ==").starts_with("a.toml:2: not TOML: "))
      << in_file("tile = 1\ntile ==");
}

// toml++ asserts conditions that these texts violate.
TEST(FileMistakes, ATextThatIsNearlyTomlIsNamedWithTheLine) {
  for (const char* text : {"[[[", "x = [{a=1},}", "[[[a]]]", "[}", "x = [{},}"})
    EXPECT_TRUE(
        in_file("tile = 1\n\n" + std::string(text) + "\nseed = 2\n").starts_with("a.toml:3: not TOML: "))
        << text << ": " << in_file("tile = 1\n\n" + std::string(text) + "\nseed = 2\n");
}

TEST(FileMistakes, DeeplyNestedTextIsRefused) {
  const auto many = [](const std::string& one) {
    std::string all;
    for (int i = 0; i < 100'000; ++i) all += one;
    return all;
  };
  for (const std::string& text :
       {many("a.") + "b = 1", "[" + many("a.") + "b]", "tile = " + many("["), "tile = " + many("{a="),
        many("\"a,\".") + "b = 1", "x = {y = \"\"\"\n\"\"\", " + many("a . ") + "b = 1}"})
    EXPECT_NE(in_file(text).find("a.toml:"), std::string::npos)
        << text.substr(0, 40) << ": " << in_file(text);
  EXPECT_EQ(in_file("report = \"" + many(".") + "\""), "(nothing was thrown)");
}

TEST(FileMistakes, AShareOfMemoryIsPositiveAndAtMostAll) {
  EXPECT_EQ(in_file("memory = \"0%\""),
            "a.toml:1: memory = \"0%\": a share must be more than 0% and at most 100%");
  EXPECT_EQ(on_command_line({"--memory", "120%"}),
            "--memory 120%: a share must be more than 0% and at most 100%");
  EXPECT_EQ(on_command_line({"--trace-memory", "50%"}).substr(0, 34), "--trace-memory 50%: not a size; wr");
}

TEST(FileMistakes, AnUnreadableFileIsNamedWithTheOptionThatNamesIt) {
  EXPECT_EQ(on_command_line({"--config", "/no/such.toml"}),
            "--config: cannot read /no/such.toml: No such file or directory");
  EXPECT_EQ(in_environment("FAIRLEAD_CONFIG", "/no/such.toml"),
            "FAIRLEAD_CONFIG: cannot read /no/such.toml: No such file or directory");
  EXPECT_EQ(on_command_line({"--config", "/"}), "--config: cannot read /: it is a directory");
}

TEST(CodeMistakes, AreReportedWithTheSourceLine) {
  Config config;
  const auto line = std::to_string(__LINE__ + 1);
  const auto unknown = mistake([&] { config.set("memmory", "512MiB"); });
  EXPECT_EQ(unknown, "mistakes_test.cpp:" + line + ": unknown key \"memmory\" (did you mean \"memory\"?)");
  // Not within EXPECT_EQ: compilers differ about lines within a macro.
  const auto next = std::to_string(__LINE__ + 1);
  const auto too_small = mistake([&] { config.set("tile", 0); });
  EXPECT_EQ(too_small, "mistakes_test.cpp:" + next + ": set(\"tile\", \"0\"): must be at least 1");
}

TEST(CodeMistakes, AMistakeLeavesTheValueAsItWas) {
  Config config;
  config.set("tile", 512);
  mistake([&] { config.set("tile", 0); });
  EXPECT_EQ(config.count("tile"), 512u);
}

TEST(CodeMistakes, ReadingTheWrongTypeIsAUsageError) {
  const Config config;
  EXPECT_THROW(config.count("memory"), UsageError);
  EXPECT_THROW(config.bytes("memory"), UsageError);  // it has no value
  EXPECT_EQ(mistake([&] { config.count("tyle"); }), "unknown key \"tyle\" (did you mean \"tile\"?)");
}

// The list of policies is not in the schema: other code checks it, with the same message.
TEST(Choices, OutsideTheSchemaAreRefusedWithThePlaceOfTheValue) {
  constexpr std::array<std::string_view, 3> policies{"eager", "lws", "darts"};
  const auto check = [&](const Config& config) {
    return mistake([&] { config.require_one_of("scheduler", policies); });
  };
  EXPECT_EQ(check(config_of({"--scheduler", "dart"})),
            "--scheduler dart: must be one of eager, lws, darts (did you mean darts?)");
  EXPECT_EQ(check(config_of({}, {{"FAIRLEAD_SCHEDULER", "heft"}})),
            "FAIRLEAD_SCHEDULER=heft: must be one of eager, lws, darts");
  EXPECT_EQ(check(config_of({"--scheduler", "lws"})), "(nothing was thrown)");
  EXPECT_EQ(check(config_of({})), "(nothing was thrown)");
}

}  // namespace fairlead
