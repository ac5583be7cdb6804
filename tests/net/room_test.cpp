// Concurrent runs share the memory for values in transit: which of their limits applies.
#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

#include "net/endpoint.hpp"

namespace fairlead::net::shared_room {
namespace {

constexpr GraphRun first{0, 0}, second{1, 0};
constexpr std::uint64_t fingerprint = 77;
constexpr Bytes value_bytes = 60;
constexpr TransitLimits tight{.in_transit = 100}, wide{.in_transit = 1000};

/// Rank 0, of two.
class TransitLimitsOfRuns : public testing::Test {
 protected:
  void begin(const GraphRun& run, const TransitLimits& room) { endpoint.begin(run, fingerprint, room, out); }
  void end(const GraphRun& run) { endpoint.end(run, out); }
  /// The number of admitted values so far.
  std::size_t set_limits(const GraphRun& run, std::uint64_t values) {
    for (std::uint64_t i = 0; i < values; ++i) {
      Activate activate{run, next_task++, fingerprint, {}};
      activate.outputs.push_back({.bytes = value_bytes, .memory_bytes = value_bytes});
      endpoint.message(RankId{1}, bytes_of(activate), out);
    }
    return out.places.size();
  }
  void lands(std::size_t place) {
    endpoint.placed(out.places[place].id, place, ValueMemory{&somewhere, nullptr, {}}, out);
    endpoint.landed(out.expected.back().id, out);
  }
  /// The number of values that are read at once for requests of the other rank.
  std::size_t reads(const GraphRun& run, std::uint64_t values) {
    for (std::uint64_t i = 0; i < values; ++i) {
      const std::uint64_t task = next_task++;
      const Endpoint::Output output{.value = task, .bytes = value_bytes, .to = {RankId{1}}};
      endpoint.task_finished(run, task, {&output, 1}, out);
      endpoint.message(RankId{1}, bytes_of(Request{run, task, task, 1}), out);
    }
    return out.reads.size();
  }

  Protocol protocol{};
  Endpoint endpoint{RankId{0}, 2, protocol};
  EndpointCommands out;
  std::uint64_t next_task = 0;
  std::byte somewhere{};
};

TEST_F(TransitLimitsOfRuns, ALaterRunDoesNotRaiseTheLimitOfAnEarlierRun) {
  begin(first, tight);
  begin(second, wide);
  EXPECT_EQ(set_limits(second, 5), 1u);
  end(first);
  EXPECT_EQ(out.places.size(), 5u);
}
TEST_F(TransitLimitsOfRuns, ALaterRunDoesNotRaiseTheLimitForOutgoingValues) {
  begin(first, tight);
  begin(second, wide);
  EXPECT_EQ(reads(second, 5), 1u);
  end(first);
  EXPECT_EQ(out.reads.size(), 5u);
}
TEST_F(TransitLimitsOfRuns, ValuesInTransitContinueUnderASmallerLimit) {
  begin(first, wide);
  EXPECT_EQ(set_limits(first, 3), 3u);
  begin(second, tight);
  EXPECT_EQ(set_limits(second, 2), 3u);
  lands(0);
  lands(1);
  EXPECT_EQ(out.places.size(), 3u);
  lands(2);
  EXPECT_EQ(out.places.size(), 4u);
  lands(3);
  EXPECT_EQ(out.places.size(), 5u);
}
TEST_F(TransitLimitsOfRuns, TheFormerLimitAppliesAgainAfterALaterRun) {
  begin(first, tight);
  begin(second, wide);
  end(second);
  EXPECT_EQ(set_limits(first, 3), 1u);
}
TEST_F(TransitLimitsOfRuns, MessagesHaveTheLimitOfGraphsWhileAnyRuns) {
  TransitLimits of_messages = tight;
  of_messages.yields = true;
  begin(first, of_messages);
  begin(second, wide);
  EXPECT_EQ(set_limits(first, 3), 3u);
  for (std::size_t i = 0; i < 3; ++i) lands(i);
  end(second);
  EXPECT_EQ(set_limits(first, 3), 4u);  // its own limit
}

/// Rank 1 copies the values from here at any time.
class TransitLimitsOfOffers : public TransitLimitsOfRuns {
 protected:
  TransitLimitsOfOffers() : offering(RankId{0}, 2, {.offered_from = 1, .read_by = {false, true}}) {}
  Endpoint offering;
};
TEST_F(TransitLimitsOfOffers, OfferedValuesCountUnderALaterLimitOfZero) {
  offering.begin(first, fingerprint, {.in_transit = 300, .offered = 120}, out);
  const auto over = [&](std::uint64_t task) {
    const Endpoint::Output output{.value = task, .bytes = value_bytes, .to = {RankId{1}}};
    offering.task_finished(first, task, {&output, 1}, out);
  };
  over(0);
  over(1);
  EXPECT_EQ(out.reads.size(), 2u);  // they are offered
  offering.begin(second, fingerprint, {.in_transit = 180}, out);
  for (std::uint64_t task = 2; task < 4; ++task) {
    over(task);
    offering.message(RankId{1}, bytes_of(Request{first, task, task, 1}), out);
  }
  EXPECT_EQ(out.reads.size(), 3u);
}

}  // namespace
}  // namespace fairlead::net::shared_room
