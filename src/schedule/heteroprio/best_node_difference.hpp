// Which affinity to trust: the one whose best node changes least between a task's push and its pop. Bramas
// 2019, "Automatic DLAF selection": the best memory node difference (BMD) of LS_SDH, LS_SDH2, LS_SDHB and
// LC_SMWB, each of them evaluated at every push and every pop, whichever places the task.
#pragma once
#include <array>
#include <cstdint>
#include <optional>
#include <span>

#include "schedule/heteroprio/affinity.hpp"

namespace fairlead::schedule::heteroprio {

class BestNodeDifference {
 public:
  /// Those it chooses among. Of equal ones the first is chosen; the paper leaves it open.
  static constexpr std::array compared{Affinity::sdh, Affinity::sdh2, Affinity::sdhb, Affinity::smwb};
  /// One column for each.
  using Winners = std::array<std::uint8_t, compared.size()>;

  /// `asker`: the node of the worker that pushes, and later of the one that pops, to which a tie goes. So an
  /// affinity that cannot decide counts as unsteady when the task is taken elsewhere, as the paper says of
  /// LaRU, which has no other opinion.
  static Winners winners(std::span<const Use> uses, Column columns, std::optional<Column> asker,
                         double theta);

  /// The position in `compared` of the one with the lowest count.
  std::size_t steadiest() const noexcept;
  void popped(const Winners& at_push, const Winners& now) noexcept;

  const std::array<std::uint64_t, compared.size()>& counts() const noexcept { return counts_; }

 private:
  std::array<std::uint64_t, compared.size()> counts_{};
};

}  // namespace fairlead::schedule::heteroprio
