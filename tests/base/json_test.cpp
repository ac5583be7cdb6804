// JSON keeps the order of members, and numbers are exact.
#include "base/json.hpp"

#include <gtest/gtest.h>
#include <limits>
#include <optional>
#include <string>

namespace fairlead {

TEST(Json, KeepsTheOrderOfMembersAndExactNumbers) {
  Json json = Json::object({{"z", 1}, {"a", "x\"y"}, {"list", Json::array({true, 0.5, Json()})}});
  json.add("bytes", std::uint64_t(18446744073709551615u));
  EXPECT_EQ(json.text(), R"({
  "z": 1,
  "a": "x\"y",
  "list": [
    true,
    0.5,
    null
  ],
  "bytes": 18446744073709551615
}
)");
}

TEST(Json, WritesUnrepresentableValuesAsNullOrReplacedWithoutAnError) {
  EXPECT_EQ(Json(std::numeric_limits<double>::infinity()).text(), "null\n");
  EXPECT_EQ(Json("\xff").text(), "\"\xef\xbf\xbd\"\n");
}

TEST(Json, ReadsWhatItWrites) {
  const Json json = Json::object(
      {{"z", 1}, {"a", "x\"y"}, {"list", Json::array({true, 0.5, Json(), -3})}, {"object", Json::object()}});
  const std::optional<Json> read = Json::parse(json.text());
  ASSERT_TRUE(read);
  EXPECT_EQ(read->text(), json.text());
  EXPECT_EQ(read->find("z")->count(), 1u);
  EXPECT_EQ(read->find("z")->number(), 1.0);
  EXPECT_EQ(*read->find("a")->string(), "x\"y");
  EXPECT_EQ(read->find("list")->elements()->size(), 4u);
  EXPECT_EQ((*read->find("list")->elements())[1].number(), 0.5);
  EXPECT_TRUE((*read->find("list")->elements())[2].is_null());
  EXPECT_EQ((*read->find("list")->elements())[3].number(), -3.0);
  EXPECT_FALSE((*read->find("list")->elements())[3].count());
  EXPECT_EQ(read->find("missing"), nullptr);
  EXPECT_EQ(Json(1).find("z"), nullptr);
}

TEST(Json, RefusesOtherTextsAndTooManyLevels) {
  for (const char* text : {"", "{", "[1,]", "{\"a\":}", "NaN", "1 2"})
    EXPECT_FALSE(Json::parse(text)) << text;
  EXPECT_TRUE(Json::parse(std::string(60, '[') + std::string(60, ']')));
  EXPECT_FALSE(Json::parse(std::string(1000000, '[')));
  EXPECT_FALSE(Json::parse(std::string(1000, '[') + std::string(1000, ']')));
}

}  // namespace fairlead
