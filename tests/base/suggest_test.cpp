// The suggestion for a misspelt word.
#include "base/suggest.hpp"

#include "config/schema.hpp"

#include <gtest/gtest.h>
#include <vector>

namespace fairlead {

TEST(EditDistance, CountsInsertionsDeletionsReplacementsAndSwaps) {
  EXPECT_EQ(edit_distance("memory", "memory"), 0u);
  EXPECT_EQ(edit_distance("memmory", "memory"), 1u);
  EXPECT_EQ(edit_distance("memry", "memory"), 1u);
  EXPECT_EQ(edit_distance("mamory", "memory"), 1u);
  EXPECT_EQ(edit_distance("tiel", "tile"), 1u);
  EXPECT_EQ(edit_distance("", "tile"), 4u);
  EXPECT_EQ(edit_distance("kitten", "sitting"), 3u);
  EXPECT_EQ(edit_distance("ca", "abc"), 3u);  // a swapped pair is not edited again
}

TEST(Suggestion, IsTheNearestKeyOfTheSchemaOrNone) {
  std::vector<std::string_view> keys;
  for (const Setting& setting : config::schema()) keys.push_back(setting.key);
  EXPECT_EQ(nearest("memmory", keys), "memory");
  EXPECT_EQ(nearest("mem", keys), "memory");
  EXPECT_EQ(nearest("bandwidth", keys), "disk-bandwidth");
  EXPECT_EQ(nearest("shedular", keys), "scheduler");
  EXPECT_EQ(nearest("wokers", keys), "workers");
  EXPECT_EQ(nearest("dsk-bandwith", keys), "disk-bandwidth");
  EXPECT_EQ(nearest("zebra", keys), "");
  EXPECT_EQ(nearest("x", keys), "");
  EXPECT_EQ(nearest("", keys), "");
}

TEST(Suggestion, PrefersAKeyWhoseFirstWordIsTheName) {
  const std::vector<std::string_view> machines{"h200", "k40", "p100", "v100-pcie"};
  EXPECT_EQ(nearest("v100", machines), "v100-pcie");
  EXPECT_EQ(nearest("p10", machines), "p100");
  EXPECT_EQ(nearest("h100", machines), "h200");
}

}  // namespace fairlead
