// Blocks from slabs are aligned, do not overlap, and stay valid.
#include "base/slab_arena.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>
#include <vector>

#include "base/random.hpp"

namespace fairlead {
namespace {

TEST(SlabArena, BlocksAreAlignedAndDoNotOverlap) {
  struct Piece {
    unsigned char* begin;
    std::size_t bytes;
    unsigned char value;
  };
  Random random(7);
  SlabArena slabs;
  std::vector<Piece> pieces;
  std::size_t total = 0;
  for (int i = 0; total < (std::size_t{40} << 20); ++i) {
    const auto bytes = static_cast<std::size_t>(random.between(1, i % 50 == 0 ? 3'000'000 : 50'000));
    const std::size_t alignment = std::size_t{1} << random.below(13);
    auto* begin = static_cast<unsigned char*>(slabs.take(bytes, alignment));
    ASSERT_EQ(reinterpret_cast<std::uintptr_t>(begin) % alignment, 0u);
    pieces.push_back({begin, bytes, static_cast<unsigned char>(i)});
    std::memset(begin, pieces.back().value, bytes);
    total += bytes;
  }
  for (const Piece& piece : pieces) {
    ASSERT_EQ(piece.begin[0], piece.value);
    ASSERT_EQ(std::memcmp(piece.begin, piece.begin + 1, piece.bytes - 1), 0);
  }
}

TEST(SlabArena, EmptySlabsAllocateNothing) { const SlabArena slabs; }

}  // namespace
}  // namespace fairlead
