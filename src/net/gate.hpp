// Holds announced values until the program has reached the task that needs them. For runs in which the program
// determines each value that a rank gets. An early announcement takes no memory but its message.
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
  /// The key under which the program expects an announced value. The lowest byte distinguishes messages of the
  /// sender, which may announce one value several times, to different ranks.
  static std::uint64_t key_of(std::uint64_t task) noexcept { return task >> 8; }

  /// Marks the value as expected. Returns its announcement, if that came before.
  std::optional<std::pair<RankId, Activate>> expect(std::uint64_t key) {
    const auto found = early_.find(key);
    if (found == early_.end()) {
      expected_.insert(key);
      return std::nullopt;
    }
    std::optional early(std::move(found->second));
    early_.erase(found);
    return early;
  }
  /// False: it is too early, and the gate keeps it.
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
