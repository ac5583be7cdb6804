// Whether a run has come to a stop everywhere although something is left: then its graph is wrong, and whoever waits would
// wait for ever. Each rank says when nothing moves there, and how many messages it has sent and got; rank 0 looks whether
// all have said so, or are done with what others wait in, and all messages have come. What they said may be from different times, so it asks
// everybody again: if all is as it was, nothing has moved in between. Mattern 1987, the four-counter method.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "net/messages.hpp"

namespace fairlead::net {

/// Rank 0's.
class Stillness {
 public:
  /// What stopped() begins with.
  static constexpr std::string_view nothing_moves = "nothing moves any more on any rank";

  explicit Stillness(std::uint32_t ranks) : last_(ranks), asked_(ranks) {}

  /// A rank has said how it is. True if all are to be asked again, with round(): not before they have answered to the
  /// round before, or as many messages as ranks would be sent for each that says something.
  bool said(RankId rank, const Status& status) {
    if (status.round != 0) {
      std::optional<Status>& answer = asked_[index(rank)];
      if (status.round != round_ || answer) return false;
      answer = status;
      return --unanswered_ == 0 && said_meanwhile_ && !stopped() && begin_round();
    }
    if (const auto& last = last_[index(rank)]; last && last->said > status.said) return false;  // overtaken
    last_[index(rank)] = status;
    said_meanwhile_ = true;
    return unanswered_ == 0 && begin_round();
  }
  std::uint64_t round() const noexcept { return round_; }
  /// All have answered, and nothing has moved: what each waits for. Nothing: not so, or not yet.
  std::optional<std::string> stopped() const {
    if (unanswered_ != 0 || !all_still(asked_)) return std::nullopt;
    std::string text = fmt::format("{}, and tasks are left that nobody feeds", nothing_moves);
    for (std::size_t i = 0; i < asked_.size(); ++i) {
      if (asked_[i]->sent != before_[i]->sent || asked_[i]->received != before_[i]->received)
        return std::nullopt;
      if (asked_[i]->waits) text += fmt::format("\n  rank {}: {}", i, asked_[i]->text);
    }
    return text;
  }

 private:
  bool begin_round() {
    if (!all_still(last_)) return false;
    ++round_;
    before_ = last_;  // what is said meanwhile is not what all said before they were asked
    asked_.assign(asked_.size(), std::nullopt);
    unanswered_ = asked_.size();
    said_meanwhile_ = false;
    return true;
  }
  static bool all_still(const std::vector<std::optional<Status>>& of) {
    std::uint64_t sent = 0, received = 0;
    bool some_wait = false;
    for (const auto& status : of) {
      if (!status || !(status->waits || status->over)) return false;
      sent += status->sent;
      received += status->received;
      some_wait |= status->waits;
    }
    if (!some_wait || sent != received) return false;
    // Whoever has not yet had a run that others wait in may still begin it.
    for (const auto& waiting : of)
      for (const auto& other : of)
        if (waiting->waits && other->over &&
            (other->run.graph != waiting->run.graph || other->run.run < waiting->run.run))
          return false;
    return true;
  }
  std::vector<std::optional<Status>> last_, before_, asked_;
  std::uint64_t round_ = 0;
  std::size_t unanswered_ = 0;
  bool said_meanwhile_ = false;  // since the round has begun
};

}  // namespace fairlead::net
