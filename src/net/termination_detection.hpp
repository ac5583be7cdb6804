// Termination detection for incorrect graphs: detects that all ranks are idle although tasks are left, which would
// otherwise wait for ever. Each rank reports when it is idle, with its counts of sent and received messages. Rank 0
// checks that all ranks are idle or finished, and that all messages have arrived. Reports may be from different
// times, so it asks all ranks again: if no count has changed, nothing has moved in between. Mattern 1987, the
// four-counter method.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "net/messages.hpp"

namespace fairlead::net {

/// Rank 0's part.
class TerminationDetector {
 public:
  /// First words of the text of stopped().
  static constexpr std::string_view no_progress = "no rank makes progress";

  explicit TerminationDetector(std::uint32_t ranks) : last_(ranks), asked_(ranks) {}

  /// Adds a rank's report. True if all ranks must be asked with round(): not before they have answered the previous
  /// round, or each report would cause a message to each rank.
  bool add_report(RankId rank, const Status& status) {
    if (status.round != 0) {
      std::optional<Status>& answer = asked_[index(rank)];
      if (status.round != round_ || answer) return false;
      answer = status;
      return --unanswered_ == 0 && reported_since_round_ && !deadlock_text() && begin_round();
    }
    // reordered by the network
    if (const auto& last = last_[index(rank)]; last && last->sequence > status.sequence) return false;
    last_[index(rank)] = status;
    reported_since_round_ = true;
    return unanswered_ == 0 && begin_round();
  }
  std::uint64_t round() const noexcept { return round_; }
  /// After all answers, if nothing has moved: what each rank waits for. Nothing otherwise.
  std::optional<std::string> deadlock_text() const {
    if (unanswered_ != 0 || !all_idle(asked_)) return std::nullopt;
    std::string text = fmt::format("{}, and unfinished tasks wait for data that no rank sends", no_progress);
    for (std::size_t i = 0; i < asked_.size(); ++i) {
      if (asked_[i]->sent != before_[i]->sent || asked_[i]->received != before_[i]->received)
        return std::nullopt;
      if (asked_[i]->idle) text += fmt::format("\n  rank {}: {}", i, asked_[i]->text);
    }
    return text;
  }

 private:
  bool begin_round() {
    if (!all_idle(last_)) return false;
    ++round_;
    before_ = last_;  // later reports must not replace those from before the round
    asked_.assign(asked_.size(), std::nullopt);
    unanswered_ = asked_.size();
    reported_since_round_ = false;
    return true;
  }
  static bool all_idle(const std::vector<std::optional<Status>>& of) {
    std::uint64_t sent = 0, received = 0;
    bool some_wait = false;
    for (const auto& status : of) {
      if (!status || !(status->idle || status->finished)) return false;
      sent += status->sent;
      received += status->received;
      some_wait |= status->idle;
    }
    if (!some_wait || sent != received) return false;
    // A rank that has not started a run yet, in which others wait, may still start it.
    for (const auto& waiting : of)
      for (const auto& other : of)
        if (waiting->idle && other->finished &&
            (other->run.graph != waiting->run.graph || other->run.run < waiting->run.run))
          return false;
    return true;
  }
  std::vector<std::optional<Status>> last_, before_, asked_;
  std::uint64_t round_ = 0;
  std::size_t unanswered_ = 0;
  bool reported_since_round_ = false;  // since the start of the round
};

}  // namespace fairlead::net
