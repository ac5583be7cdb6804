// The order over the lists of the grid: Table 3 of Bramas 2019, cell by cell, and ties.
#include "schedule/heteroprio/access_order.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

namespace fairlead::schedule::heteroprio {
namespace {

constexpr Column cores = 0, gpu0 = 1, gpu1 = 2;
using BucketNumbers = std::vector<std::uint32_t>;
using Distances = std::vector<double>;
using Table = std::vector<std::vector<int>>;  // by bucket, node: the position in the order; -1: not visited

const BucketNumbers cpu_buckets{0, 1, 2, 3}, gpu_buckets{3, 2, 1};
// Table 3A, rows = from. It is data here: Eq. 12 cannot give it.
const Distances from_cpu{0, 0.5, 1}, from_gpu0{0.5, 0, 1}, from_gpu1{0.5, 1, 0};
constexpr LocalityRange cpu_reach{2, 2}, gpu_reach{2, 1};

Table positions(const std::vector<ListId>& order, std::size_t buckets = 4, std::size_t nodes = 3) {
  Table table(buckets, std::vector(nodes, -1));
  for (std::size_t at = 0; at < order.size(); ++at)
    table[order[at].bucket][order[at].column] = static_cast<int>(at);
  return table;
}

// The paper's print has the two GPUs exchanged, against its own distances: see the next test.
TEST(AccessOrder, OfCoresIsThatOfTable3BByItsRule) {
  EXPECT_EQ(positions(access_order(cpu_buckets, cores, from_cpu, cpu_reach)),
            (Table{{0, 2, 3}, {1, 4, 5}, {6, 8, 9}, {7, 10, 11}}));
}
TEST(AccessOrder, OfCoresIsThatOfTable3BAsPrintedIfTheSecondGpuIsCloser) {
  EXPECT_EQ(positions(access_order(cpu_buckets, cores, Distances{0, 1, 0.5}, cpu_reach)),
            (Table{{0, 3, 2}, {1, 5, 4}, {6, 9, 8}, {7, 11, 10}}));
}
TEST(AccessOrder, OfTheFirstGpuIsThatOfTable3C) {
  EXPECT_EQ(positions(access_order(gpu_buckets, gpu0, from_gpu0, gpu_reach)),
            (Table{{-1, -1, -1}, {5, 4, 8}, {3, 1, 7}, {2, 0, 6}}));
}
TEST(AccessOrder, OfTheSecondGpuIsThatOfTable3D) {
  EXPECT_EQ(positions(access_order(gpu_buckets, gpu1, from_gpu1, gpu_reach)),
            (Table{{-1, -1, -1}, {5, 8, 4}, {3, 7, 1}, {2, 6, 0}}));
}

TEST(AccessOrder, InTheSecondStageGoesBucketAfterBucket) {
  const auto order = access_order(gpu_buckets, gpu0, Distances{0.5, 0, 1, 1}, gpu_reach);
  const std::vector<ListId> second_stage(order.begin() + 6, order.end());
  EXPECT_EQ(second_stage, (std::vector<ListId>{{3, 2}, {3, 3}, {2, 2}, {2, 3}, {1, 2}, {1, 3}}));
}

TEST(AccessOrder, WithLambdaOneGoesRowByRow) {
  EXPECT_EQ(positions(access_order(cpu_buckets, cores, from_cpu, {1, 2})),
            (Table{{0, 1, 2}, {3, 4, 5}, {6, 7, 8}, {9, 10, 11}}));
}
TEST(AccessOrder, WithTheLargestLambdaFinishesTheOwnNodeFirst) {
  const Table expected{{0, 4, 5}, {1, 6, 7}, {2, 8, 9}, {3, 10, 11}};
  EXPECT_EQ(positions(access_order(cpu_buckets, cores, from_cpu, {4, 2})), expected);
  EXPECT_EQ(positions(access_order(cpu_buckets, cores, from_cpu, {unlimited, unlimited})), expected);
}

TEST(AccessOrder, EquallyDistantNodesAreOrderedByNumber) {
  EXPECT_EQ(access_order(BucketNumbers{0}, 1, Distances{1, 0, 1, 1}, {1, 2}),
            (std::vector<ListId>{{0, 1}, {0, 0}, {0, 2}, {0, 3}}));
}

TEST(AccessOrder, ReachesEachListOnceForAnyReach) {
  for (std::size_t lambda = 1; lambda < 6; ++lambda)
    for (std::size_t subgroups = 0; subgroups < 5; ++subgroups) {
      const Table table = positions(access_order(cpu_buckets, cores, from_cpu, {lambda, subgroups}));
      std::vector<int> seen;
      for (const auto& row : table) seen.insert(seen.end(), row.begin(), row.end());
      std::ranges::sort(seen);
      for (int i = 0; i < 12; ++i) EXPECT_EQ(seen[static_cast<std::size_t>(i)], i);
    }
}

}  // namespace
}  // namespace fairlead::schedule::heteroprio
