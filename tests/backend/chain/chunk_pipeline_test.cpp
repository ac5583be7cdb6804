// Transfers over two links in chunks; the test plays the links.
#include <gtest/gtest.h>

#include <array>
#include <cerrno>
#include <string>
#include <vector>

#include "backend/chain/chunk_pipeline.hpp"

namespace fairlead::backend {

namespace {

/// Two buffers of 4,096 bytes. Chunks in flight are in `hops`.
struct TwoBuffers {
  std::array<std::byte, 8192> memory{};
  std::vector<ChunkTransfer> hops;
  std::vector<std::string> outcomes;  // of each completed transfer
  ChunkPipeline transit{{.chunk_bytes = 4096, .pieces = 2, .memory = memory.data()},
                        [this](const ChunkTransfer& hop) { hops.push_back(hop); },
                        [this](const Transfer&, const TransferResult& outcome) {
                          outcomes.push_back(outcome.succeeded() ? "good" : outcome.description);
                        }};

  /// Completes the oldest hop.
  ChunkTransfer complete_one(const TransferResult& outcome = {}) {
    const ChunkTransfer hop = hops.front();
    hops.erase(hops.begin());
    ChunkPipeline::hop_done(hop.token, outcome);
    return hop;
  }
  void expect(std::size_t place, unsigned leg, Bytes first, Bytes bytes, const std::byte* buffer) const {
    ASSERT_LT(place, hops.size());
    EXPECT_EQ(hops[place].leg, leg);
    EXPECT_EQ(hops[place].first, first);
    EXPECT_EQ(hops[place].bytes, bytes);
    EXPECT_EQ(hops[place].buffer, buffer);
  }
};

Transfer of_bytes(Bytes bytes) {
  Transfer load;
  load.bytes = bytes;
  return load;
}

}  // namespace

// 10,000 bytes are 4,096 and 4,096 and 1,808: the third waits for a buffer.
TEST(ChunkPipeline, OverlapsTheTwoLinks) {
  TwoBuffers it;
  it.transit.start(of_bytes(10'000), nullptr);
  ASSERT_EQ(it.hops.size(), 2u);
  const std::byte *const one = it.hops[0].buffer, *const other = it.hops[1].buffer;
  EXPECT_NE(one, other);
  it.expect(0, 0, 0, 4096, one);
  it.expect(1, 0, 4096, 4096, other);
  it.complete_one();  // the first is in its buffer and continues
  it.expect(1, 1, 0, 4096, one);
  it.complete_one();
  it.complete_one();  // the first has arrived: its buffer takes the third
  ASSERT_EQ(it.hops.size(), 2u);
  it.expect(0, 1, 4096, 4096, other);
  it.expect(1, 0, 8192, 1808, one);
  EXPECT_TRUE(it.outcomes.empty());
  it.complete_one();
  it.complete_one();
  it.complete_one();
  EXPECT_EQ(it.outcomes, std::vector<std::string>{"good"});
  EXPECT_TRUE(it.hops.empty());
}

TEST(ChunkPipeline, NeedsNoBuffersIfTheIntermediateCacheKeepsTheBytes) {
  TwoBuffers it;
  std::array<std::byte, 12288> kept{};
  it.transit.start(of_bytes(10'000), kept.data());
  it.transit.start(of_bytes(100), nullptr);
  ASSERT_EQ(it.hops.size(), 3u);  // two of the first, the limit of chunks in flight, and the second
  it.expect(0, 0, 0, 4096, kept.data());
  it.expect(1, 0, 4096, 4096, kept.data() + 4096);
  EXPECT_EQ(it.hops[2].bytes, 100u);
}

// The first failed chunk determines the outcome; chunks in flight complete, and no more start.
TEST(ChunkPipeline, ReportsTheFirstFailureOnce) {
  TwoBuffers it;
  it.transit.start(of_bytes(10'000), nullptr);
  it.complete_one();
  EXPECT_EQ(it.complete_one({.error_number = EIO, .description = "cut", .failure = {}}).first, 4096u);
  EXPECT_TRUE(it.outcomes.empty());  // the first is on its second leg
  ASSERT_EQ(it.hops.size(), 1u);
  it.complete_one({.error_number = EIO, .description = "cut again", .failure = {}});
  EXPECT_EQ(it.outcomes, std::vector<std::string>{"cut"});
  EXPECT_TRUE(it.hops.empty());
  it.transit.start(of_bytes(8192), nullptr);  // the buffers are free again
  EXPECT_EQ(it.hops.size(), 2u);
}

TEST(ChunkPipeline, ReportsNothingAfterStop) {
  TwoBuffers it;
  it.transit.start(of_bytes(100), nullptr);
  it.transit.stop();
  it.complete_one();
  it.transit.start(of_bytes(100), nullptr);
  EXPECT_TRUE(it.hops.empty());
  EXPECT_TRUE(it.outcomes.empty());
}

}  // namespace fairlead::backend
