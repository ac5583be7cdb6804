// Sizes and bandwidths to text and back.
#include "config/value.hpp"

#include <gtest/gtest.h>
#include <array>
#include <limits>

namespace fairlead::config {

TEST(Sizes, AreBytesOrANumberWithAUnit) {
  EXPECT_EQ(parse_size("4096"), 4096u);
  EXPECT_EQ(parse_size("0"), 0u);
  EXPECT_EQ(parse_size("512MiB"), 536870912u);
  EXPECT_EQ(parse_size("2GB"), 2000000000u);
  EXPECT_EQ(parse_size("1.5GiB"), 1610612736u);
  EXPECT_EQ(parse_size("1.5 GiB"), 1610612736u);
  EXPECT_EQ(parse_size("8kB"), 8000u);
  EXPECT_EQ(parse_size("1tib"), Bytes(1) << 40);
  EXPECT_EQ(parse_size("100B"), 100u);
  EXPECT_EQ(parse_size("1e9"), 1000000000u);
  EXPECT_EQ(parse_size("1.5E9"), 1500000000u);
  EXPECT_EQ(parse_size("2e+3"), 2000u);
  EXPECT_EQ(parse_size("1e3MiB"), 1048576000u);
  EXPECT_EQ(parse_size("1EB"), 1000000000000000000u);
  EXPECT_EQ(parse_size("1E0EiB"), Bytes(1) << 60);
}

TEST(Grids, AreTwoNumbersAboveZero) {
  EXPECT_EQ(parse_grid("2x3"), (std::array<std::int32_t, 2>{2, 3}));
  EXPECT_EQ(parse_grid("512x1"), (std::array<std::int32_t, 2>{512, 1}));
  for (const char* text :
       {"", "3", "x", "2x", "x3", "2x3x4", "0x3", "2x0", "-1x3", "2 x 3", "2x3 ", "2X3", "99999999999x1"})
    EXPECT_EQ(parse_grid(text), std::nullopt) << text;
}

// In binary floating point 0.3 GB would be 299,999,999 bytes.
TEST(Sizes, OfDecimalFractionsAreExact) {
  EXPECT_EQ(parse_size("0.3GB"), 300000000u);
  EXPECT_EQ(parse_size("1.000000001GB"), 1000000001u);
  EXPECT_EQ(parse_size("0.0001KiB"), 0u);
}

// As in batch systems.
TEST(Sizes, MayHaveALetterForAUnit) {
  EXPECT_EQ(parse_size("2G"), Bytes{2} << 30);
  EXPECT_EQ(parse_size("512M"), Bytes{512} << 20);
  EXPECT_EQ(parse_size("64K"), Bytes{64} << 10);
  EXPECT_EQ(parse_size("1T"), Bytes{1} << 40);
}

TEST(Sizes, RefuseOtherTexts) {
  for (const char* text :
       {"",   "MiB", "1.",  ".5GiB",   "1.5", "-1",   "+1",    "1e-3",  "1e",      "1.55e1",
        "e9", "1e+", "50%", "512Mb/s", "1 2", "0x10", "1GiB ", " 1GiB", "1..5GiB", "nan"})
    EXPECT_EQ(parse_size(text), std::nullopt) << text;
}

TEST(Shares, ArePerCentAboveNothingAndUpToAll) {
  EXPECT_EQ(parse_share("50%"), 0.5);
  EXPECT_EQ(parse_share("12.5%"), 0.125);
  EXPECT_EQ(parse_share("100%"), 1);
  for (const char* text : {"0%", "-1%", "101%", "%", "50", "nan%", "inf%", "5 0%", ""})
    EXPECT_EQ(parse_share(text), std::nullopt) << text;
}

TEST(Sizes, AreAtMostTheLargestNumber) {
  EXPECT_EQ(parse_size("18446744073709551615"), std::numeric_limits<Bytes>::max());
  EXPECT_EQ(parse_size("18446744073709551616"), std::nullopt);
  EXPECT_EQ(parse_size("15.999999999999999999EiB"), std::numeric_limits<Bytes>::max() - 1);
  EXPECT_EQ(parse_size("16EiB"), std::nullopt);
  EXPECT_EQ(parse_size("1e19"), 10'000'000'000'000'000'000u);
  EXPECT_EQ(parse_size("2e19"), std::nullopt);
  EXPECT_EQ(parse_size("1e99999999999"), std::nullopt);
  EXPECT_EQ(parse_size("0e99999999999"), 0u);
  EXPECT_EQ(parse_size("18446744073709551615EiB"), std::nullopt);
}

TEST(Sizes, AreWrittenBriefly) {
  EXPECT_EQ(format_size(536870912), "512MiB");
  EXPECT_EQ(format_size(2000000000), "2GB");
  EXPECT_EQ(format_size(1610612736), "1536MiB");
  EXPECT_EQ(format_size(4097), "4097");
  EXPECT_EQ(format_size(0), "0");
}

TEST(Sizes, AreUnchangedAfterARoundTrip) {
  for (Bytes bytes = 1; bytes < std::numeric_limits<Bytes>::max() / 3; bytes = bytes * 3 - bytes / 7) {
    EXPECT_EQ(parse_size(format_size(bytes)), bytes);
    EXPECT_EQ(parse_size(format_size(bytes & ~Bytes(0xfffff))), bytes & ~Bytes(0xfffff));
    EXPECT_EQ(parse_size(format_size(bytes / 1000 * 1000)), bytes / 1000 * 1000);
  }
}

TEST(Sizes, ForReadersAreRounded) {
  EXPECT_EQ(readable_size(1023), "1023 B");
  EXPECT_EQ(readable_size(1536), "1.5 KiB");
  EXPECT_EQ(readable_size(Bytes(235) << 30), "235 GiB");
}

TEST(Values, OfEveryTypeAreUnchangedAfterARoundTrip) {
  const auto there_and_back = [](SettingType type, std::string_view text) {
    const Setting setting{.key = "k", .type = type, .unset_word = "auto", .choices = "a|b"};
    const ParsedValue reading = parse_value(setting, text);
    return reading.error.empty() ? format_value(setting, reading.value) : reading.error;
  };
  EXPECT_EQ(there_and_back(SettingType::size, "1024KiB"), "1MiB");
  EXPECT_EQ(there_and_back(SettingType::bandwidth, "250MB/s"), "250MB/s");
  EXPECT_EQ(there_and_back(SettingType::bandwidth, "1234567B/s"), "1234567B/s");
  EXPECT_EQ(there_and_back(SettingType::count, "12"), "12");
  EXPECT_EQ(there_and_back(SettingType::real, "1e-9"), "1e-09");
  EXPECT_EQ(there_and_back(SettingType::real, "inf"), "not a number");
  EXPECT_EQ(there_and_back(SettingType::text, "a b"), "a b");
  EXPECT_EQ(there_and_back(SettingType::choice, "b"), "b");
  EXPECT_EQ(there_and_back(SettingType::flag, "Yes"), "true");
  EXPECT_EQ(there_and_back(SettingType::count, "auto"), "auto");
}

TEST(Choices, OfFormerNamesAreAcceptedButNotListed) {
  const Setting setting{.key = "k", .type = SettingType::choice, .choices = "a|b|=c"};
  EXPECT_EQ(join(choices_of(setting), ","), "a,b");
  EXPECT_EQ(parse_value(setting, "c").error, "");
  EXPECT_EQ(format_value(setting, parse_value(setting, "c").value), "c");
  EXPECT_NE(parse_value(setting, "=c").error, "");
}

}  // namespace fairlead::config
