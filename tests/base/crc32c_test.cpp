// The checksums of RFC 3720, appendix B.4.
#include "base/crc32c.hpp"

#include <gtest/gtest.h>

#include <span>
#include <string>

namespace fairlead {
namespace {

std::uint32_t crc32c_of(const std::string& text) { return crc32c(std::as_bytes(std::span(text))); }

TEST(Crc32c, HasThePublishedValues) {
  EXPECT_EQ(crc32c_of(""), 0u);
  EXPECT_EQ(crc32c_of("123456789"), 0xe3069283u);
  EXPECT_EQ(crc32c_of(std::string(32, '\0')), 0x8a9136aau);
  EXPECT_EQ(crc32c_of(std::string(32, '\xff')), 0x62a8ab43u);
  std::string ascending;
  for (char byte = 0; byte < 32; ++byte) ascending += byte;
  EXPECT_EQ(crc32c_of(ascending), 0x46dd794eu);
}

}  // namespace
}  // namespace fairlead
