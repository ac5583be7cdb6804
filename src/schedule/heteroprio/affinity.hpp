// How well a task suits a memory node, from its data alone: the six affinities of LAHeteroprio (Bramas 2019,
// "Task insertion in the grid with locality evaluation", Eq. 6-9). Each answers with all nodes that are best.
// And which of four to trust: the one whose best node changes least between a task's push and its pop
// ("Automatic DLAF selection").
//
// Built as printed: the text wants a datum that is on every node ignored, which Eq. 6-9 do not do, and which
// could change a winner in Eq. 8 only.
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "base/time.hpp"
#include "data/task.hpp"

namespace fairlead::schedule::heteroprio {

using Column = std::uint32_t;   ///< a memory node, as its position in View::nodes()
using Columns = std::uint64_t;  ///< bit m: column m
inline constexpr Column most_columns = 64;

/// A datum of a task.
struct Use {
  Bytes bytes = 0;
  bool written = false;  ///< also if it is read too
  Columns present = 0;   ///< the nodes that hold it
};

inline constexpr double default_theta = 1000;

/// LaRU: the node of the worker that pushes; all of them if none does.
Columns laru(std::optional<Column> pusher, Column columns) noexcept;
/// MC_StarPU: where moving the data takes the least time.
Columns mc(std::span<const Duration> moving_times) noexcept;
/// LS_SDH, Eq. 6: where the most bytes are.
Columns sdh(std::span<const Use> uses, Column columns) noexcept;
/// LS_SDH2, Eq. 7: the same, counting written data by the squares of their sizes.
Columns sdh2(std::span<const Use> uses, Column columns) noexcept;
/// LS_SDHB, Eq. 8: the same, counting the bytes of written data theta times their number.
Columns sdhb(std::span<const Use> uses, Column columns, double theta = default_theta) noexcept;
/// LC_SMWB, Eq. 9: where the fewest bytes are absent, written ones counting once if all data are written, and
/// nearly twice if few are.
Columns smwb(std::span<const Use> uses, Column columns) noexcept;

enum class Affinity : std::uint8_t { laru, mc, sdh, sdh2, sdhb, smwb };
inline constexpr std::array<std::string_view, 6> affinity_names{"laru", "mc", "sdh", "sdh2", "sdhb", "smwb"};

/// The one of several: the node of the worker that asks if it is among them, else the lowest. The paper
/// leaves it open.
Column winner(Columns best, std::optional<Column> asker) noexcept;

/// The best memory node difference (BMD) of LS_SDH, LS_SDH2, LS_SDHB and LC_SMWB, each of them evaluated at
/// every push and every pop, whichever places the task.
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
