// Generated from the schema: the help, the documentation page, the options of the user's programs.
#include <fairlead/config.hpp>

#include "config/help.hpp"
#include "config/schema.hpp"
#include "config/write.hpp"

#include <gmock/gmock.h>
#include <algorithm>
#include <sstream>

namespace fairlead {

namespace {

std::string checked_in_page() {
  std::ifstream stream(FAIRLEAD_SETTINGS_PAGE);
  std::ostringstream text;
  text << stream.rdbuf();
  return text.str();
}

constexpr Positional two[] = {{.name = "A.npy", .help = "the matrix"},
                              {.name = "b.npy", .help = "the right-hand side"}};
constexpr Setting own[] = {
    {.key = "output", .type = SettingType::text, .value_name = "FILE", .help = "where x goes", .letter = 'o'},
    {.key = "n",
     .type = SettingType::count,
     .default_value = "16384",
     .minimum = "1",
     .help = "order of the matrix"},
    {.key = "check", .type = SettingType::flag, .default_value = "false", .help = "verify"}};
constexpr CommandLine solve{
    .program = "fairlead solve", .summary = "Solves.", .positionals = two, .options = own};

ParsedCommandLine parse_solve(std::vector<std::string> arguments, config::Environment environment = {}) {
  return config::parse({std::move(arguments), std::move(environment)}, solve);
}

}  // namespace

TEST(Page, MatchesTheSchema) {
  EXPECT_EQ(checked_in_page(), config::configuration_page())
      << "regenerate it: fairlead help --markdown > docs/configuration.md";
}

TEST(Page, ItsExampleFileIsRead) {
  const std::string page = config::configuration_page(), fence = "```toml\n";
  const std::size_t begin = page.find(fence) + fence.size();
  const TemporaryDirectory directory;
  const std::string file = directory.write("a.toml", page.substr(begin, page.find("```", begin) - begin));
  const Config config = config_of({"--config", file});
  EXPECT_EQ(config.count("disk-threads"), 8u);
  EXPECT_EQ(config.bandwidth_bytes_per_second("disk-bandwidth"), 250'000'000u);
}

TEST(Schema, IsValid) { EXPECT_NO_THROW(ConfigBuilder::check_table(config::schema())); }

TEST(Schema, ATableWithAnImpossibleDefaultIsRefused) {
  constexpr Setting bad[] = {
      {.key = "n", .type = SettingType::count, .default_value = "0", .minimum = "1", .help = "n"}};
  EXPECT_THROW(ConfigBuilder::check_table(bad), UsageError);
}

TEST(Help, NamesEverySettingInAtMostAHundredColumns) {
  const std::string text = help_text(solve, HelpDetail::all);
  for (const Setting& setting : config::schema()) {
    const bool may_be_denied = setting.type == SettingType::flag && setting.default_value == "true";
    const std::string dashes = may_be_denied ? "  --[no-]" : "  --";
    EXPECT_THAT(text, testing::HasSubstr(dashes + std::string(setting.key) + " "));
  }
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) EXPECT_LE(line.size(), 100u) << line;
}

TEST(Help, OmitsAdvancedOptionsAndCountsThem) {
  const std::string text = help_text(solve);
  std::ptrdiff_t advanced = 0;
  for (const Setting& setting : config::schema()) {
    const bool is_listed = text.find(" --" + std::string(setting.key) + " ") != text.npos ||
                           text.find("--[no-]" + std::string(setting.key) + " ") != text.npos;
    EXPECT_EQ(is_listed, !setting.advanced) << setting.key;
    advanced += setting.advanced;
  }
  EXPECT_GT(advanced, 10);
  EXPECT_THAT(text, testing::HasSubstr("show all options: " + std::to_string(advanced) + " more"));
}

TEST(Help, StartsWithTheProgramsOptions) {
  EXPECT_TRUE(help_text(solve).starts_with(R"(usage: fairlead solve A.npy b.npy [options]

Solves.

  A.npy                       the matrix
  b.npy                       the right-hand side

Options:
  -o, --output FILE           where x goes
  --n N                       order of the matrix (default 16384)
  --check                     verify

Settings:
)")) << help_text(solve);
}

TEST(OwnOptions, AreReadWithTheSettingsInAnyOrder) {
  const auto given = parse_solve({"A.npy", "--memory", "1GiB", "b.npy", "-o", "x.npy", "--n=5", "--check"});
  EXPECT_EQ(given.positionals, (std::vector<std::string>{"A.npy", "b.npy"}));
  EXPECT_EQ(given.config.bytes("memory"), Bytes(1) << 30);
  EXPECT_EQ(given.config.text("output"), "x.npy");
  EXPECT_EQ(given.config.count("n"), 5u);
  EXPECT_TRUE(given.config.flag("check"));
  EXPECT_FALSE(given.help);
}

TEST(OwnOptions, HaveDefaultsRangesAndSuggestionsLikeSettings) {
  EXPECT_EQ(parse_solve({"a", "b"}).config.count("n"), 16384u);
  EXPECT_EQ(mistake([] { parse_solve({"a", "b", "--n", "0"}); }), "--n 0: must be at least 1");
  EXPECT_EQ(mistake([] {
              parse_solve({"a", "b", "--ouput", "x"});
            }),
            "unknown option --ouput (did you mean --output?)");
  EXPECT_EQ(mistake([] { parse_solve({"a", "b", "-o"}); }), "option --output needs a value");
}

TEST(OwnOptions, WithTheNameOfASettingAreAUsageError) {
  const Setting tile[] = {{.key = "tile", .type = SettingType::count, .help = "side of a tile"}};
  EXPECT_THROW(config::parse({}, {.options = tile}), UsageError);
  const Setting help[] = {{.key = "height", .type = SettingType::count, .help = "height", .letter = 'h'}};
  EXPECT_THROW(config::parse({}, {.options = help}), UsageError);
}

TEST(OwnOptions, AreNotInTheEnvironment) {
  EXPECT_EQ(mistake([] {
              parse_solve({"a", "b"}, {{"FAIRLEAD_OUTPUT", "x"}});
            }),
            "unknown environment variable FAIRLEAD_OUTPUT");
}

TEST(Positionals, MissingAndExtraOnesAreNamed) {
  EXPECT_EQ(mistake([] { parse_solve({"A.npy"}); }), "missing argument b.npy: the right-hand side");
  EXPECT_EQ(mistake([] { parse_solve({"A.npy", "b.npy", "c.npy"}); }), "unexpected argument \"c.npy\"");
}

TEST(Positionals, MayBeginWithADashAfterTwoDashes) {
  EXPECT_EQ(parse_solve({"--n", "5", "--", "-A.npy", "--b.npy"}).positionals,
            (std::vector<std::string>{"-A.npy", "--b.npy"}));
}

TEST(Help, IsPrintedAlthoughOtherArgumentsAreInvalidOrMissing) {
  EXPECT_TRUE(parse_solve({"--help"}).help);
  EXPECT_EQ(parse_solve({"--help"}).help_detail, HelpDetail::common);
  EXPECT_TRUE(parse_solve({"--help-all"}).help);
  EXPECT_EQ(parse_solve({"--help-all"}).help_detail, HelpDetail::all);
  EXPECT_TRUE(parse_solve({"-h", "--config", "/no/such/file"}, {{"FAIRLEAD_TYLE", "1"}}).help);
}

TEST(FromArgs, ThrowsOnLeftoversAndGivesItsHelpAsAnException) {
  const char* leftover[] = {"program", "file"};
  EXPECT_EQ(mistake([&] { Config::from_args(2, leftover); }), "unexpected argument \"file\"");
  const char* help[] = {"program", "--help"};
  EXPECT_THROW(Config::from_args(2, help), HelpRequested);
}

// A runtime would silently ignore such an option.
TEST(FromArgs, RefusesOptionsOfTheCommandOnly) {
  for (const char* option : {"--tile=64", "--blas=openblas", "--blas-coretype=Zen", "--blas-products=own",
                             "--progress=none", "--json=a"}) {
    const char* given[] = {"program", option};
    const std::string said = mistake([&] { Config::from_args(2, given); });
    const std::string name = std::string(option).substr(0, std::string(option).find('='));
    EXPECT_EQ(said,
              name +
                  " would change nothing: it is an option of the command `fairlead`, and this program does "
                  "not use it");
  }
  const char* all_of_a_runtime[] = {"program", "--memory=1MiB", "--workers=2", "--scheduler=eager",
                                    "--seed=3"};
  EXPECT_EQ(Config::from_args(5, all_of_a_runtime).count("workers"), 2u);
}

TEST(FromArgs, AcceptsOptionsThatTheProgramDeclares) {
  const char* given[] = {"program", "--tile=64"};
  EXPECT_EQ(Config::from_args(2, given, {"tile"}).count("tile"), 64u);
  EXPECT_THROW(Config::from_args(2, given, {"tyle"}), UsageError);
  const char* help[] = {"program", "--help-all"};
  const auto text_of_help = [&](std::initializer_list<std::string_view> heeded) -> std::string {
    try {
      Config::from_args(2, help, heeded);
    } catch (const HelpRequested& asked) {
      return asked.what();
    }
    return "";
  };
  EXPECT_THAT(text_of_help({}), testing::Not(testing::HasSubstr("--tile")));
  EXPECT_THAT(text_of_help({"tile"}), testing::HasSubstr("--tile"));
}

TEST(ListingSettings, TakesTheFileOptionWithOrWithoutAFile) {
  const TemporaryDirectory directory;
  const CommandLine info{.program = "fairlead info", .config_lists = true};
  const auto plain = config::parse({{"--config"}, {}}, info);
  EXPECT_TRUE(plain.list_config);
  const auto with_file = config::parse({{"--config", directory.write("a.toml", "tile = 3")}, {}}, info);
  EXPECT_TRUE(with_file.list_config);
  EXPECT_EQ(with_file.config.count("tile"), 3u);
}

}  // namespace fairlead
