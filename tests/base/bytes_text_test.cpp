// Bytes in messages are rounded so that the message stays true.
#include "base/bytes_text.hpp"

#include <gtest/gtest.h>

namespace fairlead {
namespace {

constexpr Bytes mebi = Bytes{1} << 20;

TEST(BytesText, ExactSizesAreUnchanged) {
  for (const auto& show : {mebibytes, mebibytes_needed, mebibytes_there}) {
    EXPECT_EQ(show(1000), "1000 bytes");
    EXPECT_EQ(show(384 * mebi), "384 MiB");
    EXPECT_EQ(show(mebi * 225 / 4), "56.25 MiB");
  }
}

// A task of 56.25 MiB does not fit in one page less, and the message must show that.
TEST(BytesText, ASizeThatDoesNotFitIsShownAsLarger) {
  EXPECT_EQ(mebibytes_there(mebi * 225 / 4 - 4096), "56.24 MiB");
  EXPECT_EQ(mebibytes_needed(mebi * 225 / 4 + 4096), "56.26 MiB");
  EXPECT_EQ(mebibytes_needed(12345 * mebi + 1), "12346 MiB");
  EXPECT_EQ(mebibytes_there(12345 * mebi - 1), "12344 MiB");
}

}  // namespace
}  // namespace fairlead
