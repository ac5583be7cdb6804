// A hash of the contents of a matrix, equal for equal bits, to compare the results of two runs without storing them.
#pragma once
#include <fairlead/flow.hpp>
#include <fairlead/tiled_matrix.hpp>

#include <bit>
#include <cstdint>
#include <type_traits>
#include <vector>

#include "algorithms/linalg/collectives.hpp"
#include "algorithms/linalg/fill.hpp"
#include "base/random.hpp"
#include "base/rundown_protection.hpp"

namespace fairlead::linalg {

/// Covers the lower triangle, without the elements above the diagonal of diagonal tiles, or all tiles. Depends on the
/// tile side, as rounding does. Must stay valid until the flow has been waited for.
template <class T>
class TileDigest {
 public:
  explicit TileDigest(Tiles which) noexcept : which_(which) {}

  /// Submits a task per tile.
  void submit(Flow& flow, const TiledMatrix<T>& a) {
    digests_.assign(fill_tasks(a, which_), 0);
    const auto digest = codelet("digest").cpu(
        [this, gate = rundown_.gate()](In<Tile<T>> tile, std::size_t place, bool lower_only) {
          if (const RundownProtection::Use use(*gate); use) digests_[place] = of(tile, lower_only);
        });
    std::size_t place = 0;
    for (std::int32_t i = 0; i < a.tile_rows(); ++i)
      for (std::int32_t j = 0; j < a.tile_columns() && (which_ == Tiles::all || j <= i); ++j)
        flow.submit(digest(a(i, j), place++, which_ == Tiles::lower && i == j));
  }

  /// Combines the digests of all ranks, after the tasks have finished. Collective over the ranks.
  void combine_ranks(Runtime& runtime) {
    if (runtime.ranks() == 1) return;
    std::vector<double> halves;  // exact: each is below 2^32
    for (const std::uint64_t digest : digests_)
      for (const std::uint64_t half : {digest >> 32, digest & 0xffffffff})
        halves.push_back(static_cast<double>(half));
    allreduce_max(runtime, halves);  // other ranks have zeros
    for (std::size_t i = 0; i < digests_.size(); ++i)
      digests_[i] =
          static_cast<std::uint64_t>(halves[2 * i]) << 32 | static_cast<std::uint64_t>(halves[2 * i + 1]);
  }
  /// The digest; valid after the tasks have finished.
  std::uint64_t value() const noexcept {
    std::uint64_t value = digests_.size();
    for (const std::uint64_t digest : digests_) value = Random::mix(value ^ digest) + 1;
    return value;
  }

 private:
  template <class View>
  static std::uint64_t of(const View& tile, bool lower_only) noexcept {
    using Bits = std::conditional_t<sizeof(T) == 8, std::uint64_t, std::uint32_t>;
    std::uint64_t value = 0;
    for (int c = 0; c < tile.columns(); ++c)
      for (int r = lower_only ? c : 0; r < tile.rows(); ++r)
        value = Random::mix(value ^ std::bit_cast<Bits>(tile(r, c))) + 1;
    return value;
  }

  Tiles which_;
  std::vector<std::uint64_t> digests_;  // by tile, row by row
  RundownProtection rundown_;           // last: tasks use all of the above
};

}  // namespace fairlead::linalg
