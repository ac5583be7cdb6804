// JSON output keeps the order of members, and numbers are exact.
#include "base/json.hpp"

#include <gtest/gtest.h>
#include <limits>

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

}  // namespace fairlead
