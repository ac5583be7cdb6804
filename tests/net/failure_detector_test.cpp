// Ranks that monitor each other, without sockets and at given times: when a lost rank is detected, that all ranks are
// notified, and that one rank reports it.
#include <gtest/gtest.h>

#include <algorithm>
#include <deque>
#include <memory>
#include <set>

#include "base/random.hpp"
#include "net/failure_detector.hpp"

namespace fairlead::net::tests {
namespace {

using namespace std::chrono_literals;
using How = Loss::Kind;

RankId rank(std::size_t number) { return RankId{static_cast<std::uint32_t>(number)}; }

/// All ranks and their messages, which are delivered at once, in order.
class Tree {
 public:
  explicit Tree(std::uint32_t ranks, std::uint32_t fan_out = 3, FailureDetector::Timing pace = {})
      : state_(ranks) {
    for (std::uint32_t i = 0; i < ranks; ++i)
      lines_.push_back(
          std::make_unique<FailureDetector>(FailureDetector::Place{RankId{i}, ranks, fan_out}, pace, now_));
    for (std::size_t i = 0; i < ranks; ++i)
      if (const auto parent = lines_[i]->parent()) {
        words_.push_back({rank(i), *parent, {}});
        words_.push_back({*parent, rank(i), {}});
      }
    deliver();
  }

  FailureDetector& at(std::size_t i) { return *lines_[i]; }
  Time now() const { return now_; }
  /// Its process ends: each rank with a connection to it notices.
  void kill(std::size_t who) { kill(std::vector<std::size_t>{who}); }
  /// Kills several ranks at once.
  void kill(const std::vector<std::size_t>& who) {
    for (const std::size_t i : who) state_[i] = State::dead;
    for (std::size_t i = 0; i < lines_.size(); ++i)
      for (const std::size_t other : who)
        if (state_[i] == State::runs && are_neighbours(i, other)) broken(i, other);
    deliver();
  }
  /// The process stays, but is stopped.
  void stop(std::size_t i) { state_[i] = State::stopped; }
  void go_on(std::size_t i) {
    state_[i] = State::runs;
    deliver();
  }
  void give_up(std::size_t i, How how) {
    FailureDetector::Orders orders;
    at(i).give_up(how, orders);
    carry_out(i, orders);
    deliver();
  }
  void leave(std::size_t i, bool needed) {
    FailureDetector::Orders orders;
    at(i).leave(needed, orders);
    carry_out(i, orders);
    deliver();
    state_[i] = State::dead;
    for (std::size_t other = 0; other < lines_.size(); ++other)
      if (state_[other] == State::runs && are_neighbours(i, other)) broken(other, i);
    deliver();
  }
  void pass(Duration time, Duration step = 250ms) {
    for (const Time end = now_ + time; now_ < end;) {
      now_ += step;
      for (std::size_t i = 0; i < lines_.size(); ++i)
        if (state_[i] == State::runs) look(i);
      deliver();
    }
  }
  std::size_t reports() const { return reports_; }
  std::size_t ended() const { return ended_.size(); }
  bool is_lost(const Loss& loss) const {
    for (std::size_t i = 0; i < lines_.size(); ++i)
      if (state_[i] == State::runs && lines_[i]->loss() != loss) return false;
    return true;
  }
  bool nothing_lost() const {
    return std::ranges::none_of(lines_, [](const auto& it) { return it->loss().has_value(); });
  }

 private:
  enum class State : std::uint8_t { runs, stopped, dead };
  struct Sent {
    RankId from, to;
    MonitorMessage word;
  };
  bool are_neighbours(std::size_t a, std::size_t b) const {
    return lines_[a]->parent() == rank(b) || lines_[b]->parent() == rank(a);
  }
  void broken(std::size_t i, std::size_t other) {
    FailureDetector::Orders orders;
    at(i).broken(rank(other), now_, orders);
    carry_out(i, orders);
  }
  void look(std::size_t i) {
    FailureDetector::Orders orders;
    at(i).tick(now_, orders);
    carry_out(i, orders);
  }
  void carry_out(std::size_t i, const FailureDetector::Orders& orders) {
    for (const auto& [to, word] : orders.words) words_.push_back({rank(i), to, word});
    reports_ += orders.report_to_user;
    if (orders.end) ended_.insert(i);
    if (orders.reach != no_rank && state_[index(orders.reach)] == State::dead) broken(i, index(orders.reach));
  }
  void deliver() {
    std::deque<Sent> later;
    while (!words_.empty()) {
      const Sent sent = words_.front();
      words_.pop_front();
      const std::size_t to = index(sent.to);
      if (state_[to] == State::stopped) later.push_back(sent);
      if (state_[to] != State::runs) continue;
      FailureDetector::Orders orders;
      at(to).heard(sent.from, sent.word, now_, orders);
      carry_out(to, orders);
    }
    words_ = std::move(later);
  }

  Time now_{100s};
  std::vector<std::unique_ptr<FailureDetector>> lines_;
  std::vector<State> state_;
  std::deque<Sent> words_;
  std::size_t reports_ = 0;
  std::set<std::size_t> ended_;
};

TEST(FailureDetector, EveryRankButTheFirstHasOneParentThatListsItAsAChild) {
  for (std::uint32_t ranks : {1U, 2U, 4U, 9U, 10U, 74U, 300U}) {
    std::size_t children = 0;
    for (std::uint32_t i = 0; i < ranks; ++i) {
      const FailureDetector line({RankId{i}, ranks, 8}, {}, 0s);
      children += line.children().size();
      EXPECT_EQ(line.parent().has_value(), i != 0);
      if (!line.parent()) continue;
      EXPECT_LT(*line.parent(), RankId{i});
      const auto of_parent = FailureDetector({*line.parent(), ranks, 8}, {}, 0s).children();
      EXPECT_NE(std::ranges::find(of_parent, RankId{i}), of_parent.end());
    }
    EXPECT_EQ(children, ranks - 1);
  }
}

TEST(FailureDetector, ReportsNoLossWhileAllRanksRun) {
  Tree tree(14);
  tree.pass(10min);
  EXPECT_TRUE(tree.nothing_lost());
  EXPECT_EQ(tree.reports(), 0U);
}

TEST(FailureDetector, AKilledRankIsDetectedByAllAtOnceAndReportedByOne) {
  for (const std::uint32_t fan_out : {1U, 2U, 3U, 8U})
    for (std::size_t lost = 0; lost < 14; ++lost) {
      Tree tree(14, fan_out);
      tree.pass(5s);
      tree.kill(lost);
      EXPECT_TRUE(tree.is_lost({rank(lost), How::gone})) << lost << " of a tree of " << fan_out;
      EXPECT_EQ(tree.reports(), 1U) << lost << " of a tree of " << fan_out;
      EXPECT_EQ(tree.ended(), 13U);
    }
}

TEST(FailureDetector, AStoppedRankIsDetectedByAllAfterTheTimeoutAndReportedByOne) {
  for (std::size_t lost = 0; lost < 14; ++lost) {
    Tree tree(14);
    tree.pass(5s);
    tree.stop(lost);
    tree.pass(8s);
    EXPECT_TRUE(tree.nothing_lost());
    tree.pass(4s);
    EXPECT_TRUE(tree.is_lost({rank(lost), How::silent})) << lost;
    EXPECT_EQ(tree.reports(), 1U) << lost;
    EXPECT_EQ(tree.ended(), 13U);
    tree.go_on(lost);
    EXPECT_TRUE(tree.is_lost({rank(lost), How::silent}));  // it is notified of its own loss
  }
}

TEST(FailureDetector, ARankThatWasStoppedReportsNoOtherRank) {
  Tree tree(14);
  tree.pass(5s);
  tree.pass(1h, 1h);  // all at once, as by Ctrl-Z
  tree.pass(1min);
  EXPECT_TRUE(tree.nothing_lost());
  for (std::size_t i = 0; i < 14; ++i) {  // one after the other, each for less than the timeout
    tree.stop(i);
    tree.pass(8s);
    tree.go_on(i);
    tree.pass(2s);
  }
  EXPECT_TRUE(tree.nothing_lost());
}

TEST(FailureDetector, TimeWhileAllRanksAreStoppedDoesNotCount) {
  for (Duration stopped = 100ms; stopped < 20s; stopped += 100ms) {
    Tree tree(5, 3, {.timeout = 3s});
    tree.pass(3s);
    tree.stop(3);  // stopped first, continued last
    tree.pass(stopped, stopped);
    tree.pass(500ms);
    tree.go_on(3);
    tree.pass(5s);
    EXPECT_TRUE(tree.nothing_lost()) << stopped.count();
    tree.stop(3);  // and then it is detected as soon as before
    tree.pass(4500ms);
    EXPECT_TRUE(tree.is_lost({RankId{3}, How::silent})) << stopped.count();
  }
}

TEST(FailureDetector, WithoutATimeoutOnlyAKilledRankIsDetected) {
  Tree tree(5, 3, {.timeout = 0s});
  tree.stop(2);
  tree.pass(1h, 1s);
  EXPECT_TRUE(tree.nothing_lost());
  tree.kill(2);
  EXPECT_TRUE(tree.is_lost({RankId{2}, How::gone}));
}

TEST(FailureDetector, ATimeoutThatIsSetLaterAppliesFromThenOn) {
  Tree tree(4);
  for (std::size_t i = 0; i < 4; ++i) tree.at(i).set_patience(60s, tree.now());
  tree.stop(3);
  tree.pass(58s);
  EXPECT_TRUE(tree.nothing_lost());
  tree.pass(4s);
  EXPECT_TRUE(tree.is_lost({RankId{3}, How::silent}));
}

TEST(FailureDetector, ARankThatEndsIsNotLost) {
  Tree tree(14);
  tree.pass(5s);
  for (const std::size_t i : {3U, 0U, 13U, 1U, 2U}) tree.leave(i, false);
  tree.pass(1min);
  EXPECT_TRUE(tree.nothing_lost());
}

TEST(FailureDetector, ARankThatFailsReportsItAndStaysForAWhile) {
  for (std::size_t lost = 0; lost < 14; ++lost) {
    Tree tree(14);
    tree.give_up(lost, How::failed);
    EXPECT_TRUE(tree.is_lost({rank(lost), How::failed})) << lost;
    EXPECT_EQ(tree.reports(), 1U) << lost;
    EXPECT_EQ(tree.ended(), 13U) << lost;
  }
}

TEST(FailureDetector, ARankThatLeavesWhileOthersNeedItReportsIt) {
  for (std::size_t lost = 0; lost < 14; ++lost) {
    Tree tree(14);
    tree.leave(lost, true);
    EXPECT_TRUE(tree.is_lost({rank(lost), How::left})) << lost;
    EXPECT_EQ(tree.reports(), 1U) << lost;
    EXPECT_EQ(tree.ended(), 13U);
  }
}

TEST(FailureDetector, WithoutAConnectionNoLossIsReported) {
  Tree tree(4);
  tree.at(0).remove_neighbour(RankId{2});
  tree.at(2).remove_neighbour(RankId{0});
  tree.kill(2);
  tree.pass(1min);
  EXPECT_FALSE(tree.at(0).loss());
}

TEST(FailureDetector, AChildThatNeverConnectsIsLost) {
  FailureDetector line({RankId{0}, 2, 8}, {}, 0s);
  FailureDetector::Orders orders;
  for (Time now = 0s; now <= 10s; now += 1s) line.tick(now, orders);
  EXPECT_FALSE(line.loss());
  line.tick(11s, orders);
  EXPECT_EQ(line.loss(), (Loss{RankId{1}, How::silent}));
  EXPECT_TRUE(orders.report_to_user && orders.end);
}

TEST(FailureDetector, ARankReportsALossForAnyNumberOfLostRanks) {
  for (std::uint64_t seed = 0; seed < 500; ++seed) {
    Random random(seed);
    const auto ranks = static_cast<std::uint32_t>(2 + random.below(30));
    Tree tree(ranks, static_cast<std::uint32_t>(1 + random.below(4)));
    tree.pass(Duration(2s) + Duration(1ms) * random.below(2000));
    std::vector<std::size_t> killed, stopped;
    const std::size_t survivor = random.below(ranks);
    for (std::size_t i = 0; i < ranks; ++i)
      if (i != survivor && random.below(4) == 0) (random.below(3) == 0 ? stopped : killed).push_back(i);
    if (killed.empty() && stopped.empty()) continue;
    for (const std::size_t i : stopped) tree.stop(i);
    tree.kill(killed);
    tree.pass(40s);
    EXPECT_GE(tree.reports(), 1U) << "seed " << seed;
    EXPECT_LE(tree.reports(), killed.size() + stopped.size()) << "seed " << seed;
    EXPECT_GE(tree.ended(), ranks - killed.size() - stopped.size()) << "seed " << seed;
  }
}

}  // namespace
}  // namespace fairlead::net::tests
