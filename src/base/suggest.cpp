// Finds the nearest valid word by edit distance.
#include "base/suggest.hpp"

#include <fmt/format.h>
#include <algorithm>
#include <vector>

namespace fairlead {

std::size_t edit_distance(std::string_view a, std::string_view b) {
  // Three rows of the table suffice: a transposition refers two rows up.
  std::vector<std::size_t> before(b.size() + 1), previous(b.size() + 1), row(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) row[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::swap(before, previous);
    std::swap(previous, row);
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t replaced = previous[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
      row[j] = std::min({replaced, previous[j] + 1, row[j - 1] + 1});
      const bool swapped = i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
      if (swapped) row[j] = std::min(row[j], before[j - 2] + 1);
    }
  }
  return row[b.size()];
}

std::string_view nearest(std::string_view name, std::span<const std::string_view> candidates) {
  constexpr std::size_t shortest_part = 3;  // shorter texts are contained in too many names
  const std::size_t tolerated = std::max<std::size_t>(1, name.size() / 3);
  std::string_view best;
  std::size_t best_cost = tolerated + 2;
  for (const std::string_view candidate : candidates) {
    std::size_t cost = edit_distance(name, candidate);
    const bool first_word = name.size() >= shortest_part && candidate.starts_with(name) &&
                            candidate.find_first_of("-_/", name.size()) == name.size();
    if (first_word) cost = std::min<std::size_t>(cost, 1);
    if (cost >= candidate.size()) continue;  // nothing in common
    if (cost > tolerated)
      cost =
          name.size() >= shortest_part && candidate.find(name) != candidate.npos ? tolerated + 1 : best_cost;
    if (cost < best_cost || (first_word && cost == best_cost)) {
      best = candidate;
      best_cost = cost;
    }
  }
  return best;
}

std::string did_you_mean(std::string_view name, std::span<const std::string_view> candidates,
                         std::string_view prefix) {
  const std::string_view near = nearest(name, candidates);
  return near.empty() ? std::string() : fmt::format(" (did you mean {}{}?)", prefix, near);
}

}  // namespace fairlead
