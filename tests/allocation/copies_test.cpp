// Copies that fail for lack of memory: objects that were not constructed are not destroyed.
#include <gtest/gtest.h>

#include <fairlead/config.hpp>

#include <cstdint>
#include <new>
#include <string>
#include <vector>

#include "allocation/failing_new.hpp"
#include "base/json.hpp"
#include "config/toml.hpp"
#include "config/value.hpp"

namespace fairlead::allocation {
namespace {

const std::string long_text(100, 'x');

/// The number of failed copies, with each allocation failing once.
template <class T>
std::uint64_t failed_copies(const T& original) {
  for (std::uint64_t failed = 0;; ++failed) {
    fail(failed + 1, 1);
    try {
      const T copy = original;
      never_fail();
      return failed;
    } catch (const std::bad_alloc&) {
      never_fail();
    }
  }
}

}  // namespace

TEST(CopyDispatcher, OfSettings) {
  Config config;
  for (const char* const key : {"cache-directory", "scheduler"}) config.set(key, long_text);
  EXPECT_GT(failed_copies(config), 4u);
}

TEST(CopyDispatcher, OfValuesThatMayBeTexts) {
  EXPECT_EQ(failed_copies(config::Value(long_text)), 1u);
  EXPECT_EQ(failed_copies(config::TomlNode{long_text}), 1u);
  EXPECT_EQ(failed_copies(config::TomlNode{config::TomlNode::List{{long_text}}}), 2u);
}

TEST(CopyDispatcher, OfJson) {
  const Json object = Json::object({{"text", long_text}, {"list", Json::array({Json(long_text), Json()})}});
  EXPECT_GT(failed_copies(object), 3u);
}

}  // namespace fairlead::allocation
