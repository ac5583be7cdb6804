// Values that a rank will get by what its program says, for runs in which that is known of each: what others tell of
// before the program has come so far waits here, where it takes nothing but the message.
#pragma once
#include <cstdint>
#include <optional>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "net/messages.hpp"

namespace fairlead::net {

class Gate {
 public:
  /// Under this name the program expects what is told of as a task. The lowest byte is the sender's: he may tell of
  /// one value several times, to others each.
  static std::uint64_t key_of(std::uint64_t task) noexcept { return task >> 8; }

  /// It is expected. What was told of it before.
  std::optional<std::pair<RankId, Activate>> expect(std::uint64_t key) {
    const auto found = early_.find(key);
    if (found == early_.end()) {
      expected_.insert(key);
      return std::nullopt;
    }
    std::optional told(std::move(found->second));
    early_.erase(found);
    return told;
  }
  /// False: it comes too early, and is kept.
  bool lets_in(RankId from, Activate& activate) {
    const std::uint64_t key = key_of(activate.task);
    if (expected_.erase(key) != 0) return true;
    early_.emplace(key, std::pair(from, std::move(activate)));
    return false;
  }
  void clear() noexcept {
    expected_.clear();
    early_.clear();
  }

 private:
  std::unordered_set<std::uint64_t> expected_;
  std::unordered_map<std::uint64_t, std::pair<RankId, Activate>> early_;
};

}  // namespace fairlead::net
