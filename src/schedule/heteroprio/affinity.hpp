// The affinity of a task to a memory node, from its data alone: the six affinities of LAHeteroprio (Bramas 2019, "Task
// insertion in the grid with locality evaluation", Eq. 6-9). Each function returns all best nodes. BestNodeDifference
// selects one of four: the one whose best node changes least between a task's push and its pop ("Automatic DLAF
// selection").
//
// The code follows the equations. The text also ignores data that are on every node, which Eq. 6-9 do not; that could
// change the best node of Eq. 8 only.
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
struct DatumUse {
  Bytes bytes = 0;
  bool written = false;  ///< written, or read and written
  Columns present = 0;   ///< the nodes that hold it
};

inline constexpr double default_theta = 1000;

/// LaRU: the node of the pushing worker; all nodes if no worker pushes.
Columns laru(std::optional<Column> pusher, Column columns) noexcept;
/// MC_StarPU: the nodes with the shortest total transfer time.
Columns mc(std::span<const Duration> moving_times) noexcept;
/// LS_SDH, Eq. 6: the nodes that hold the most bytes.
Columns sdh(std::span<const DatumUse> uses, Column columns) noexcept;
/// LS_SDH2, Eq. 7: like LS_SDH, but written data count by the squares of their sizes.
Columns sdh2(std::span<const DatumUse> uses, Column columns) noexcept;
/// LS_SDHB, Eq. 8: like LS_SDH, but bytes of written data count theta times their number.
Columns sdhb(std::span<const DatumUse> uses, Column columns, double theta = default_theta) noexcept;
/// LC_SMWB, Eq. 9: the nodes that lack the fewest bytes. Written bytes have weight 1 if all data are written, and
/// nearly 2 if few are.
Columns smwb(std::span<const DatumUse> uses, Column columns) noexcept;

enum class Affinity : std::uint8_t { laru, mc, sdh, sdh2, sdhb, smwb };
inline constexpr std::array<std::string_view, 6> affinity_names{"laru", "mc", "sdh", "sdh2", "sdhb", "smwb"};

/// Selects one of several best nodes: the node of the requesting worker if it is among them, else the lowest. The paper
/// leaves it open.
Column select_node(Columns best, std::optional<Column> asker) noexcept;

/// The best memory node difference (BMD) of LS_SDH, LS_SDH2, LS_SDHB and LC_SMWB. All four are evaluated at every push
/// and pop, whichever places the task.
class BestNodeDifference {
 public:
  /// The affinities compared. Among equal counts the first is chosen; the paper leaves it open.
  static constexpr std::array compared{Affinity::sdh, Affinity::sdh2, Affinity::sdhb, Affinity::smwb};
  /// The best column by each compared affinity.
  using Winners = std::array<std::uint8_t, compared.size()>;

  /// `asker`: the node of the pushing worker, and later that of the popping one; it wins ties. An affinity that cannot
  /// decide therefore counts as unsteady when another node takes the task, as the paper states for LaRU, which always
  /// chooses the pushing node.
  static Winners best_nodes(std::span<const DatumUse> uses, Column columns, std::optional<Column> asker,
                            double theta);

  /// The position in `compared` of the affinity with the lowest count.
  std::size_t most_stable() const noexcept;
  void popped(const Winners& at_push, const Winners& now) noexcept;

  const std::array<std::uint64_t, compared.size()>& counts() const noexcept { return counts_; }

 private:
  std::array<std::uint64_t, compared.size()> counts_{};
};

}  // namespace fairlead::schedule::heteroprio
