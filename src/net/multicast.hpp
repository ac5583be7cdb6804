// Multicast trees. Small values use a binomial tree, in which each rank that has the value passes it on; large ones
// use a chain, in which each rank sends once, so that no physical link carries the value twice.
#pragma once
#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include <fairlead/ids.hpp>

#include "base/random.hpp"
#include "net/names.hpp"

namespace fairlead::net {

/// A direct receiver, and the ranks that it passes the value on to.
struct MulticastBranch {
  RankId to = no_rank;
  std::vector<RankId> below;
};

enum class Tree : std::uint8_t {
  star,      // this rank sends to each: as in the paper
  binomial,  // the first half through one rank, the rest likewise
  chain,     // all through one rank
};

/// Rotates the order of the ranks by task, so that the ranks near the root vary.
inline std::vector<RankId> rotated(std::vector<RankId> ranks, std::uint64_t task) {
  if (ranks.empty()) return ranks;
  const auto by = static_cast<std::ptrdiff_t>(Random::mix(task) % ranks.size());
  std::rotate(ranks.begin(), ranks.begin() + by, ranks.end());
  return ranks;
}

/// The direct receivers. `ranks`: in tree order.
inline std::vector<MulticastBranch> branches(std::span<const RankId> ranks, Tree tree) {
  std::vector<MulticastBranch> found;
  while (!ranks.empty()) {
    std::size_t count = 1;
    if (tree == Tree::chain) count = ranks.size();
    if (tree == Tree::binomial) count = (ranks.size() + 1) / 2;
    found.push_back({ranks.front(), {ranks.begin() + 1, ranks.begin() + static_cast<std::ptrdiff_t>(count)}});
    ranks = ranks.subspan(count);
  }
  return found;
}

}  // namespace fairlead::net
