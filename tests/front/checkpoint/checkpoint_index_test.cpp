// The index of a checkpoint: what is written is read, and nothing else.
#include "front/checkpoint/checkpoint_index.hpp"

#include <gtest/gtest.h>
#include <fairlead/error.hpp>

#include <cstddef>
#include <span>
#include <string>
#include <vector>

namespace fairlead::front {
namespace {

CheckpointIndex some_index() {
  return {.identity = {{"method", "LU factorization"}, {"tile", "512"}},
          .data_file = "data-3",
          .state = "7 -1",
          .submitted = 20,
          .program_hash = 0x0123'4567'89ab'cdef,
          .unfinished = {3, 17, 19},
          .data = {{.ordinal = 0, .bytes = 5000, .offset = 8192, .sums = {{0, 4096, 7}, {4096, 4096, 8}}},
                   {.ordinal = 4, .bytes = 1, .offset = 0, .sums = {{0, 4096, 9}}}}};
}

TEST(CheckpointIndex, IsReadAsItWasWritten) {
  const CheckpointIndex index = some_index();
  const auto bytes = index.encoded();
  const CheckpointIndex read = CheckpointIndex::decode("index", bytes);
  EXPECT_EQ(read.identity, index.identity);
  EXPECT_EQ(read.data_file, index.data_file);
  EXPECT_EQ(read.state, index.state);
  EXPECT_EQ(read.submitted, index.submitted);
  EXPECT_EQ(read.program_hash, index.program_hash);
  EXPECT_EQ(read.unfinished, index.unfinished);
  EXPECT_EQ(read.finished(), 17u);
  ASSERT_EQ(read.data.size(), 2u);
  EXPECT_EQ(read.data[0].sums.size(), 2u);
  EXPECT_EQ(read.data[0].sums[1].value, 8u);
  EXPECT_EQ(read.data[1].ordinal, 4u);
  ASSERT_NE(read.find("tile"), nullptr);
  EXPECT_EQ(*read.find("tile"), "512");
  EXPECT_EQ(read.find("tiles"), nullptr);
  EXPECT_EQ(read.encoded(), bytes);
}

TEST(CheckpointIndex, IsRefusedIfAnyByteChangesOrIsMissing) {
  const auto bytes = some_index().encoded();
  for (std::size_t at = 0; at < bytes.size(); ++at) {
    auto damaged = bytes;
    damaged[at] ^= std::byte{0x10};
    EXPECT_THROW(CheckpointIndex::decode("index", damaged), InputError) << "byte " << at;
    EXPECT_THROW(CheckpointIndex::decode("index", std::span(bytes).first(at)), InputError) << at << " bytes";
  }
  auto longer = bytes;
  longer.push_back(std::byte{0});
  EXPECT_THROW(CheckpointIndex::decode("index", longer), InputError);
}

TEST(CheckpointIndex, IsRefusedIfItsNumbersAreImpossible) {
  CheckpointIndex index = some_index();
  index.unfinished = {17, 3};
  EXPECT_THROW(CheckpointIndex::decode("index", index.encoded()), InputError);
  index.unfinished = {3, 20};
  EXPECT_THROW(CheckpointIndex::decode("index", index.encoded()), InputError);
  index = some_index();
  index.data[1].ordinal = 0;
  EXPECT_THROW(CheckpointIndex::decode("index", index.encoded()), InputError);
}

}  // namespace
}  // namespace fairlead::front
