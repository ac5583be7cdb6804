// A flipped bit in data read from a file is detected, for any block boundaries; correct data, and data never written by
// this process, pass.
#include "backend/disk/checksums.hpp"

#include <gtest/gtest.h>
#include <unistd.h>
#include "sanitized.hpp"

#include <cerrno>
#include <cstring>

#include "backend/disk/world.hpp"

namespace fairlead::backend {
namespace {

class Checked : public testing::Test {
 protected:
  void write(Bytes offset, Bytes bytes) {
    Buffer content(bytes);
    content.fill(offset + bytes);
    ASSERT_EQ(world.run(world.write(offset, content.data(), bytes)).error_number, 0);
  }
  IoResult read(Bytes offset, Bytes bytes) {
    Buffer into(bytes);
    return world.run(world.read(offset, into.data(), bytes));
  }
  void flip(Bytes at, unsigned bit) {
    Buffer page(4096);
    const auto from = static_cast<off_t>(at / 4096 * 4096);
    ASSERT_EQ(pread(world.file.descriptor(), page.data(), 4096, from), 4096);
    page.data()[at % 4096] ^= std::byte{1} << bit;
    ASSERT_EQ(pwrite(world.file.descriptor(), page.data(), 4096, from), 4096);
  }

  Checksums checksums;
  World world{{.checksums = &checksums}};
};

TEST_F(Checked, AFlippedBitIsDetectedAndItsOffsetNamed) {
  world.file.reserve(64 * MiB);
  write(4096, 33 * MiB + 4096);  // three chunks
  ASSERT_EQ(read(4096, 33 * MiB + 4096).error_number, 0);
  Random random(7);
  for (int i = 0; i < (tests::sanitized ? 5 : 20); ++i) {
    const Bytes at = 4096 + random.below(33 * MiB + 4096);
    const auto bit = static_cast<unsigned>(random.below(8));
    flip(at, bit);
    const IoResult result = read(4096, 33 * MiB + 4096);
    EXPECT_EQ(result.error_number, EBADMSG) << at;
    EXPECT_EQ(result.wrong_at, 4096 + (at - 4096) / MiB * MiB);
    flip(at, bit);
  }
  EXPECT_EQ(read(4096, 33 * MiB + 4096).error_number, 0);
}

TEST_F(Checked, JoinedSmallRequestsAreCheckedSeparately) {
  constexpr Bytes count = 64;
  world.file.reserve(count * 4096);
  Buffer content(count * 4096);
  content.fill(3);
  std::vector<IoRequest> writes, reads;
  for (Bytes i = 0; i < count; ++i) {
    writes.push_back(world.write(i * 4096, content.data() + i * 4096, 4096));
    reads.push_back(world.read(i * 4096, content.data() + i * 4096, 4096));
  }
  for (const IoResult& result : world.run(writes)) ASSERT_EQ(result.error_number, 0);
  flip(17 * 4096 + 5, 3);
  const auto results = world.run(reads);
  for (Bytes i = 0; i < count; ++i) EXPECT_EQ(results[i].error_number, i == 17 ? EBADMSG : 0) << i;
}

TEST_F(Checked, WholeWritesAreCheckedInPartsAndViceVersa) {
  world.file.reserve(16 * MiB);
  write(8192, 6 * MiB);
  flip(8192 + 3 * MiB + 1, 0);
  EXPECT_EQ(read(8192, 2 * MiB).error_number, 0);
  EXPECT_EQ(read(8192 + 2 * MiB, 2 * MiB).error_number, EBADMSG);
  for (Bytes i = 0; i < 6; ++i) write(8192 + i * MiB, MiB);
  EXPECT_EQ(read(8192, 6 * MiB).error_number, 0);
  flip(8192 + 5 * MiB, 7);
  EXPECT_EQ(read(8192, 6 * MiB).error_number, EBADMSG);
}

TEST_F(Checked, AnOverwrittenBlockIsCheckedAgainstTheLastWrite) {
  world.file.reserve(8 * MiB);
  write(0, 4 * MiB);
  write(MiB / 2, MiB);  // across two chunks; the checksum of the rest is unknown
  EXPECT_EQ(read(0, 4 * MiB).error_number, 0);
  flip(MiB, 1);
  EXPECT_EQ(read(0, 4 * MiB).error_number, EBADMSG);
}

TEST_F(Checked, UnwrittenDataPass) {
  world.file.reserve(8 * MiB);
  EXPECT_EQ(read(0, 8 * MiB).error_number, 0);
}

// A stale copy is dropped on arrival; a concurrent overwrite is no error.
TEST(Checksums, BlocksWithAConcurrentWriteAreNotChecked) {
  Checksums checksums;
  const std::vector<std::byte> before(8192, std::byte{1}), after(8192, std::byte{2});
  checksums.add(checksums.of(4096, before));
  const auto expected = checksums.expected(0, 65536);
  std::vector<std::byte> content(65536);
  std::memcpy(content.data() + 4096, after.data(), after.size());
  EXPECT_EQ(expected.first_wrong(content), Bytes{4096});
  checksums.forget(8192, 4096);
  EXPECT_EQ(expected.first_wrong(content), std::nullopt);
  checksums.add(checksums.of(4096, after));
  EXPECT_EQ(expected.first_wrong(content), std::nullopt);
}

}  // namespace
}  // namespace fairlead::backend
