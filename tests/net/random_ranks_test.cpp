// Random programs on 2 to 9 ranks with a network that delays and reorders messages: all values are right, no rank hangs,
// and limits are kept. Each planted mistake of the protocol is detected.
#include <gtest/gtest.h>

#include "at_length.hpp"
#include "net/ranks.hpp"
#include "sanitized.hpp"

namespace fairlead::net::tests {
namespace {

/// `count` ranks, on one or more machines, or on one where not all processes may read each other.
Ranks::Options random_options(Random& random, std::size_t count) {
  Ranks::Options options;
  Protocol& protocol = options.protocol;
  if (random.once_in(2)) protocol.eager_bytes = 8 * random.below(40);
  protocol.credit_bytes = 8 * random.below(100);
  if (random.once_in(2)) protocol.tree_from = 2 + random.below(3);
  protocol.chain_from = 8 * random.below(40);
  protocol.most_payloads = 1 + random.below(4);
  if (random.once_in(2)) protocol.max_in_transit = 1 + random.below(6);
  options.room = {.in_transit = 8 * random.below(100), .page = Bytes{8} << random.below(4)};
  options.runs = 1 + random.below(3);
  if (random.once_in(2)) {
    protocol.offered_from = 8 * (1 + random.below(20));
    protocol.first_mark = random.next() | 1;
    for (std::size_t i = 0; i < count; ++i) protocol.read_by.push_back(!random.once_in(4));
    options.room.offered = random.below(options.room.in_transit + 1);
    if (random.once_in(2)) options.unreadable_in = 1 + random.below(8);
  }
  if (random.once_in(2)) options.into_devices_in = 1 + random.below(4);
  if (random.once_in(2))
    for (std::size_t i = 0; i < count; ++i) options.credits.push_back(8 * random.below(100));
  return options;
}

std::string wrong_in(std::uint64_t seed, DeliberateProtocolMistake mistake) {
  Random random(seed);
  const std::size_t count = 2 + random.below(8);
  const Program program = random_program(random, count);
  Ranks::Options options = random_options(random, count);
  options.protocol.mistake = mistake;
  if (random.once_in(10)) options.fails_after = 1 + random.below(100);
  if (options.fails_after == 0 && random.once_in(10)) options.starved = random.below(program.size());
  Ranks ranks(program, count, options, random.next());
  return ranks.run();
}

TEST(RandomRanks, GiveEveryTaskItsValues) {
  const std::uint64_t seeds = fairlead::tests::at_length() ? 20'000 : fairlead::tests::sanitized ? 100 : 2000;
  for (std::uint64_t seed = 1; seed <= seeds; ++seed) ASSERT_EQ(wrong_in(seed, {}), "") << "seed " << seed;
}

#ifdef FAIRLEAD_DELIBERATE_MISTAKES
TEST(RandomRanks, DetectEveryPlantedMistakeOfTheProtocol) {
  for (auto mistake = ProtocolMistake::early_message_lost; mistake <= ProtocolMistake::failure_kept;
       mistake = ProtocolMistake{static_cast<std::uint8_t>(static_cast<int>(mistake) + 1)}) {
    bool found = false;
    for (std::uint64_t seed = 1; seed <= 200 && !found; ++seed)
      found = !wrong_in(seed, DeliberateProtocolMistake(mistake)).empty();
    EXPECT_TRUE(found) << "mistake " << static_cast<int>(mistake);
  }
}
#endif

}  // namespace
}  // namespace fairlead::net::tests
