// The paper's protocol, without the extensions: its messages are counted by hand, and by a program that knows only the
// graph. Numbers: DAGuE (Bosilca et al. 2012) for Cholesky on a grid of ranks, and Figure 4.
#include <gtest/gtest.h>

#include <map>
#include <tuple>

#include "net/ranks.hpp"

namespace fairlead::net::tests {
namespace {

/// The right-looking factorization of the lower triangle, tile (m, n) on rank (m mod P) * Q + n mod Q.
class Cholesky {
 public:
  /// Of the diagonal tile the lower triangle is sent.
  Cholesky(std::size_t nt, std::size_t p, std::size_t q, std::size_t nb = 2) : p_(p), q_(q) {
    const Bytes tile = 8 * nb * nb, triangle = 4 * nb * (nb + 1);
    for (std::size_t k = 0; k < nt; ++k) {
      const std::size_t potrf = add(k, k, triangle, {});
      std::map<std::size_t, std::size_t> trsm;
      for (std::size_t m = k + 1; m < nt; ++m) trsm[m] = add(m, k, tile, {{potrf, 0}});
      for (std::size_t m = k + 1; m < nt; ++m)
        for (std::size_t n = k + 1; n <= m; ++n) {
          std::vector<Input> inputs{{trsm[m], 0}};
          if (n != m) inputs.push_back({trsm[n], 0});
          add(m, n, tile, inputs);
        }
    }
  }
  const Program& program() const { return program_; }
  std::size_t ranks() const { return p_ * q_; }

 private:
  /// A task that changes a tile: it also reads the result of the previous one.
  std::size_t add(std::size_t m, std::size_t n, Bytes bytes, std::vector<Input> inputs) {
    if (const auto last = last_.find({m, n}); last != last_.end()) inputs.push_back({last->second, 0});
    program_.push_back(
        {RankId{static_cast<std::uint32_t>(m % p_ * q_ + n % q_)}, {bytes}, std::move(inputs)});
    return last_[{m, n}] = program_.size() - 1;
  }
  std::size_t p_, q_;
  Program program_;
  std::map<std::pair<std::size_t, std::size_t>, std::size_t> last_;
};

/// One for each pair of a task and another rank that needs its result.
std::size_t pairs(const Program& program) {
  std::set<std::pair<std::size_t, RankId>> found;
  for (const ProgramTask& task : program)
    for (const Input& input : task.inputs)
      if (program[input.task].rank != task.rank) found.insert({input.task, task.rank});
  return found.size();
}

const Ranks::Options as_in_the_paper{.protocol = {.eager_bytes = 0, .tree_from = 0}};

TEST(Messages, OfCholeskyOnFourRanksAreThePapers) {
  const Cholesky cholesky(4, 2, 2, 200);
  Ranks ranks(cholesky.program(), 4, as_in_the_paper, 1);
  ASSERT_EQ(ranks.run(), "");
  EXPECT_EQ(ranks.traffic(), (NetworkTraffic{.activates = 12,
                                             .requests = 12,
                                             .credits = 0,
                                             .payloads = 12,
                                             .payload_bytes = 3'362'400,
                                             .eager_bytes = 0}));
  std::vector<std::size_t> sent, got;
  for (std::size_t i = 0; i < 4; ++i) {
    sent.push_back(ranks.traffic(i).activates);
    got.push_back(ranks.received(i));
  }
  EXPECT_EQ(sent, (std::vector<std::size_t>{4, 2, 4, 2}));
  EXPECT_EQ(got, (std::vector<std::size_t>{1, 3, 5, 3}));
}

TEST(Messages, OfCholeskyAreOneForEachTaskAndRankThatNeedsIt) {
  const std::map<std::tuple<std::size_t, std::size_t, std::size_t>, std::size_t> worked_out{
      {{4, 1, 1}, 0},  {{4, 2, 1}, 6},  {{4, 1, 2}, 6},   {{6, 2, 2}, 30},
      {{8, 2, 2}, 56}, {{8, 2, 3}, 77}, {{10, 2, 2}, 90}, {{20, 3, 3}, 722}};
  for (const auto& [shape, count] : worked_out) {
    const auto [nt, p, q] = shape;
    EXPECT_EQ(pairs(Cholesky(nt, p, q).program()), count) << nt << " tiles on " << p << " x " << q;
  }
  for (std::size_t nt = 1; nt <= 9; ++nt)
    for (std::size_t p = 1; p <= 3; ++p)
      for (std::size_t q = 1; q <= 4; ++q) {
        const Cholesky cholesky(nt, p, q);
        Ranks ranks(cholesky.program(), cholesky.ranks(), as_in_the_paper, nt);
        ASSERT_EQ(ranks.run(), "") << nt << " tiles on " << p << " x " << q;
        const std::size_t count = pairs(cholesky.program());
        EXPECT_EQ(ranks.traffic().activates, count);
        EXPECT_EQ(ranks.traffic().requests, count);
        EXPECT_EQ(ranks.traffic().payloads, count);
      }
}

TEST(Messages, OfTwoOutputsAreOneActivateEachAndOneRequestForBoth) {
  const RankId r0{0}, r1{1}, r2{2};
  const Program program{{r0, {64, 128}, {}},
                        {r1, {8}, {{0, 0}}},
                        {r1, {8}, {{0, 1}}},
                        {r1, {8}, {{0, 0}, {0, 1}}},
                        {r2, {8}, {{0, 1}}}};
  Ranks ranks(program, 3, as_in_the_paper, 3);
  ASSERT_EQ(ranks.run(), "");
  EXPECT_EQ(ranks.traffic(0).activates, 2u);
  EXPECT_EQ(ranks.traffic(1).requests, 1u);
  EXPECT_EQ(ranks.traffic(2).requests, 1u);
  EXPECT_EQ(ranks.traffic(0).payloads, 3u);
}

TEST(Messages, OfPingPongAreTwoForEachRound) {
  Program program;
  const std::size_t rounds = 100;
  for (std::size_t i = 0; i <= 2 * rounds; ++i) {
    program.push_back({RankId{static_cast<std::uint32_t>(i % 2)}, {8}, {}});
    if (i != 0) program.back().inputs.push_back({i - 1, 0});
  }
  Ranks ranks(program, 2, as_in_the_paper, 5);
  ASSERT_EQ(ranks.run(), "");
  EXPECT_EQ(ranks.traffic().activates, 2 * rounds);
  EXPECT_EQ(ranks.traffic().requests, 2 * rounds);
  EXPECT_EQ(ranks.traffic().payloads, 2 * rounds);
}

Ranks::Options offering(std::size_t ranks) {
  Ranks::Options options = as_in_the_paper;
  options.protocol.offered_from = 8;
  options.protocol.read_by.assign(ranks, true);
  options.room.offered = 1024;
  return options;
}

/// No request and no payload: a value is announced, offered, and read.
TEST(Messages, OfValuesReadInPlaceAreThreeForEachValue) {
  const Program program{
      {RankId{0}, {64, 128}, {}}, {RankId{1}, {8}, {{0, 0}, {0, 1}}}, {RankId{2}, {8}, {{0, 1}}}};
  Ranks ranks(program, 3, offering(3), 3);
  ASSERT_EQ(ranks.run(), "");
  EXPECT_EQ(ranks.traffic(),
            (NetworkTraffic{.activates = 2, .offers = 3, .takings = 3, .reads = 3, .read_bytes = 320}));
}

TEST(Messages, OfValuesThatCannotBeReadEndWithARequest) {
  const Program program{{RankId{0}, {64}, {}}, {RankId{1}, {8}, {{0, 0}}}};
  Ranks::Options options = offering(2);
  options.unreadable_in = 1;
  Ranks ranks(program, 2, options, 3);
  ASSERT_EQ(ranks.run(), "");
  EXPECT_EQ(ranks.traffic(),
            (NetworkTraffic{.activates = 1, .requests = 1, .payloads = 1, .payload_bytes = 64, .offers = 1}));
}

/// Cores cannot copy to a device: an offered value is requested once its offer has arrived.
TEST(Messages, OfValuesForADeviceEndWithARequest) {
  const Program program{{RankId{0}, {64}, {}}, {RankId{1}, {8}, {{0, 0}}}};
  Ranks::Options options = offering(2);
  options.into_devices_in = 1;
  Ranks ranks(program, 2, options, 3);
  ASSERT_EQ(ranks.run(), "");
  EXPECT_EQ(ranks.traffic(), (NetworkTraffic{.activates = 1,
                                             .requests = 1,
                                             .payloads = 1,
                                             .payload_bytes = 64,
                                             .offers = 1,
                                             .into_devices = 1,
                                             .bytes_into_devices = 64}));
}

TEST(Messages, OfValuesBeyondTheLimitOfOffersAreThePapers) {
  const Program program{{RankId{0}, {64}, {}}, {RankId{1}, {8}, {{0, 0}}}};
  Ranks::Options options = offering(2);
  options.room.offered = 63;
  Ranks ranks(program, 2, options, 3);
  ASSERT_EQ(ranks.run(), "");
  EXPECT_EQ(ranks.traffic(),
            (NetworkTraffic{.activates = 1, .requests = 1, .payloads = 1, .payload_bytes = 64}));
}

/// One value that all others need: no rank sends more copies than its children in the tree.
std::size_t most_sent(std::size_t ranks, Bytes bytes, const Protocol& protocol) {
  Program program{{RankId{0}, {bytes}, {}}};
  for (std::uint32_t i = 1; i < ranks; ++i) program.push_back({RankId{i}, {8}, {{0, 0}}});
  Ranks all(program, ranks, {.protocol = protocol}, 7);
  EXPECT_EQ(all.run(), "");
  EXPECT_EQ(all.traffic().payloads, ranks - 1);
  std::size_t most = 0;
  for (std::size_t i = 0; i < ranks; ++i) most = std::max(most, all.traffic(i).payloads);
  return most;
}

TEST(Broadcasts, UseATreeIfItIsEnabled) {
  EXPECT_EQ(most_sent(32, 1024, {.tree_from = 0}), 31u);
  EXPECT_EQ(most_sent(32, 1024, {.tree_from = 3, .chain_from = 4096}), 5u);
  EXPECT_EQ(most_sent(32, 8192, {.tree_from = 3, .chain_from = 4096}), 1u);
}

TEST(Broadcasts, HaveDifferentRanksNearTheRootForDifferentTasks) {
  std::set<RankId> first;
  const std::vector<RankId> ranks{RankId{1}, RankId{2}, RankId{3}, RankId{4}};
  for (std::uint64_t task = 0; task < 100; ++task) first.insert(rotated(ranks, task).front());
  EXPECT_EQ(first.size(), 4u);
}

TEST(SmallValues, AreSentEagerlyWithinTheCredit) {
  const RankId r0{0}, r1{1};
  Program program;
  for (std::size_t i = 0; i < 10; ++i) {
    program.push_back({r0, {64}, {}});
    program.push_back({r1, {8}, {{2 * i, 0}}});
  }
  Ranks enough(program, 2, {.protocol = {.eager_bytes = 64, .credit_bytes = 640}}, 9);
  ASSERT_EQ(enough.run(), "");
  EXPECT_EQ(enough.traffic().requests, 0u);
  EXPECT_EQ(enough.traffic().eager_bytes, 640u);
  Ranks none(program, 2, {.protocol = {.eager_bytes = 64, .credit_bytes = 63}}, 9);
  ASSERT_EQ(none.run(), "");
  EXPECT_EQ(none.traffic().requests, 10u);
  EXPECT_EQ(none.traffic().eager_bytes, 0u);
}

TEST(SmallValues, AreSentEagerlyWithinTheCreditOfTheReceiver) {
  const RankId r0{0}, r1{1};
  Program program;
  for (std::size_t i = 0; i < 10; ++i) {
    program.push_back({r0, {64}, {}});
    program.push_back({r1, {8}, {{2 * i, 0}}});
  }
  const Protocol protocol{.eager_bytes = 64};
  Ranks enough(program, 2, {.protocol = protocol, .credits = {0, 640}}, 9);
  ASSERT_EQ(enough.run(), "");
  EXPECT_EQ(enough.traffic().eager_bytes, 640u);
  Ranks none(program, 2, {.protocol = protocol, .credits = {640, 63}}, 9);
  ASSERT_EQ(none.run(), "");
  EXPECT_EQ(none.traffic().eager_bytes, 0u);
  // The receiver returns credit as soon as half of it is free, however little that is for the sender.
  Ranks again(program, 2, {.protocol = protocol, .in_order = true, .credits = {1 << 20, 64}}, 9);
  ASSERT_EQ(again.run(), "");
  EXPECT_GT(again.traffic().credits, 0u);
}

}  // namespace
}  // namespace fairlead::net::tests
