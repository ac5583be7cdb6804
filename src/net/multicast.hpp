// Down which tree a value goes to many ranks. Small values go by a binomial tree, in which all who have it pass it
// on; large ones by a chain, in which each sends it once, so that no wire carries it twice.
#pragma once
#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include <fairlead/ids.hpp>

#include "base/random.hpp"
#include "net/names.hpp"

namespace fairlead::net {

/// Who gets the value from us, and whom that one passes it on to.
struct Branch {
  RankId to = no_rank;
  std::vector<RankId> below;
};

enum class Tree : std::uint8_t {
  star,      // to each by ourselves: as the paper has it
  binomial,  // the first half by one, the rest likewise
  chain,     // all by one
};

/// The order in which the ranks stand in the tree differs from task to task, or the same ones would always be near
/// the root.
inline std::vector<RankId> rotated(std::vector<RankId> ranks, std::uint64_t task) {
  if (ranks.empty()) return ranks;
  const auto by = static_cast<std::ptrdiff_t>(Random::mix(task) % ranks.size());
  std::rotate(ranks.begin(), ranks.begin() + by, ranks.end());
  return ranks;
}

/// `ranks`: in the order in which they stand in the tree.
inline std::vector<Branch> branches(std::span<const RankId> ranks, Tree tree) {
  std::vector<Branch> found;
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
