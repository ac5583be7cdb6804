// Counts how often each affinity would have placed a task elsewhere when it was popped.
#include "schedule/heteroprio/best_node_difference.hpp"

#include <algorithm>

namespace fairlead::schedule::heteroprio {

BestNodeDifference::Winners BestNodeDifference::winners(std::span<const Use> uses, Column columns,
                                                        std::optional<Column> asker, double theta) {
  const auto of = [&](Columns best) { return static_cast<std::uint8_t>(winner(best, asker)); };
  return {of(sdh(uses, columns)), of(sdh2(uses, columns)), of(sdhb(uses, columns, theta)),
          of(smwb(uses, columns))};
}

std::size_t BestNodeDifference::steadiest() const noexcept {
  return static_cast<std::size_t>(std::ranges::min_element(counts_) - counts_.begin());
}

void BestNodeDifference::popped(const Winners& at_push, const Winners& now) noexcept {
  for (std::size_t i = 0; i < counts_.size(); ++i) counts_[i] += at_push[i] != now[i] ? 1 : 0;
}

}  // namespace fairlead::schedule::heteroprio
