// Messages that are held back until the receiver asks for them, without ranks.
#include "front/ranks/send_window.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <memory>
#include <set>
#include <utility>
#include <vector>

#include "base/random.hpp"

namespace fairlead::front {
namespace {

using Going = std::vector<SendWindow::Message>;

TEST(SendWindow, AMillionEqualMessagesAreOneEntryAndLeaveInOrder) {
  constexpr std::uint64_t count = 1 << 20, room = 100;
  SendWindow window(room);
  std::uint64_t gone = 0;
  for (std::uint64_t i = 0; i < count; ++i) gone += window.begin(0, i, 1, {.turn = 7});
  EXPECT_EQ(gone, room);
  EXPECT_LE(window.entries(), 2);
  Going go;
  window.grant(0, 50, go);
  ASSERT_EQ(go.size(), 50);
  EXPECT_EQ(go.front().number, room);
  window.grant(0, count, go);
  ASSERT_EQ(go.size(), count - room);
  for (std::uint64_t i = 0; i < go.size(); ++i) ASSERT_EQ(go[i].number, room + i);
  EXPECT_EQ(window.entries(), 0);
  EXPECT_EQ(window.ahead(), 0);
}

TEST(SendWindow, KeepsTheStateOfAMessageUntilItIsSent) {
  SendWindow window(0);
  const auto kept = std::make_shared<MessageState>();
  auto dropped = std::make_shared<MessageState>();
  EXPECT_FALSE(window.begin(3, 0, 1, {.turn = 1, .state = kept}));
  EXPECT_FALSE(window.begin(3, 1, 1, {.turn = 1, .state = dropped}));
  dropped.reset();
  EXPECT_FALSE(window.begin(3, 2, 1, {.turn = 1}));
  EXPECT_EQ(window.entries(), 2);  // the last two have no state
  Going go;
  window.grant(3, 3, go);
  ASSERT_EQ(go.size(), 3);
  EXPECT_EQ(go[0].what.state, kept);
  EXPECT_EQ(go[1].what.state, nullptr);
}

// A small message does not wait behind a large one: its sender may be about to receive.
TEST(SendWindow, SendsFittingMessagesPastBlockedOnes) {
  SendWindow window(10);
  EXPECT_FALSE(window.begin(0, 0, 20, {}));
  EXPECT_TRUE(window.begin(0, 1, 4, {}));
  EXPECT_TRUE(window.begin(1, 0, 4, {}));
  Going go;
  window.grant(0, 1, go);
  ASSERT_EQ(go.size(), 1);
  EXPECT_EQ(go[0].number, 0);
}

// Compared with plain lists: requested messages are sent, none is sent twice, and those sent ahead fit in the
// window.
TEST(SendWindow, SendsEachMessageOnceForAnyOrderOfGrants) {
  for (std::uint64_t seed = 1; seed <= 300 && !::testing::Test::HasFailure(); ++seed) {
    Random random(seed);
    const Bytes room = random.below(12);
    SendWindow window(room);
    struct Begun {
      Bytes takes = 0;
      bool gone = false, asked = false;
    };
    std::map<std::uint32_t, std::vector<Begun>> plain;
    const auto went = [&](const Going& go) {
      for (const auto& message : go) {
        Begun& it = plain.at(message.tag).at(message.number);
        EXPECT_FALSE(it.gone) << "seed " << seed;
        EXPECT_EQ(message.what.turn, message.tag * 1000 + message.number / 3) << "seed " << seed;
        it.gone = true;
      }
    };
    const auto check = [&] {
      Bytes ahead = 0;
      bool held = false;
      for (const auto& [tag, all] : plain)
        for (const Begun& it : all) {
          EXPECT_TRUE(it.gone || !it.asked) << "seed " << seed;
          if (it.gone && !it.asked) ahead += it.takes;
          held |= !it.gone;
        }
      EXPECT_EQ(window.ahead(), ahead) << "seed " << seed;
      EXPECT_LE(ahead, room) << "seed " << seed;
      EXPECT_EQ(window.holds_back(), held) << "seed " << seed;
    };
    for (int step = 0; step < 200; ++step) {
      const auto tag = static_cast<std::uint32_t>(random.below(3));
      auto& all = plain[tag];
      Going go;
      if (random.below(3) != 0) {
        const Bytes takes = 1 + random.below(3);
        all.push_back({takes});
        if (window.begin(tag, all.size() - 1, takes, {.turn = tag * 1000 + (all.size() - 1) / 3}))
          all.back().gone = true;
      } else {
        const std::uint64_t until = random.below(all.size() + 1);
        window.grant(tag, until, go);
        for (std::uint64_t i = 0; i < until; ++i) all[i].asked = true;
      }
      went(go);
      check();
    }
    for (auto& [tag, all] : plain) {
      Going go;
      window.grant(tag, all.size(), go);
      for (Begun& it : all) it.asked = true;
      went(go);
    }
    check();
    EXPECT_EQ(window.entries(), 0) << "seed " << seed;
  }
}

}  // namespace
}  // namespace fairlead::front
