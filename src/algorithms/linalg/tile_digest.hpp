// A number for the contents of a matrix, the same for the same bits: shows that two runs gave the same result
// without keeping either.
#pragma once
#include <fairlead/flow.hpp>
#include <fairlead/tiled_matrix.hpp>

#include <bit>
#include <cstdint>
#include <type_traits>
#include <vector>

#include "algorithms/linalg/fill.hpp"
#include "algorithms/linalg/over_ranks.hpp"
#include "base/random.hpp"

namespace fairlead::linalg {

/// Of the lower triangle, where what is above the diagonal in tiles on it does not count, or of all tiles.
/// Depends on the tile, since rounding does as well. Must live until the flow has waited.
template <class T>
class TileDigest {
 public:
  explicit TileDigest(Tiles which) noexcept : which_(which) {}

  /// A task for each tile.
  void submit(Flow& flow, const TiledMatrix<T>& a) {
    digests_.assign(fill_tasks(a, which_), 0);
    const auto digest = codelet("digest").cpu([this](In<Tile<T>> tile, std::size_t place, bool lower_only) {
      digests_[place] = of(tile, lower_only);
    });
    std::size_t place = 0;
    for (std::int32_t i = 0; i < a.tile_rows(); ++i)
      for (std::int32_t j = 0; j < a.tile_columns() && (which_ == Tiles::all || j <= i); ++j)
        flow.submit(digest(a(i, j), place++, which_ == Tiles::lower && i == j));
  }

  /// When the tasks are over, of those of all ranks; all call it.
  void bring_together(Runtime& runtime) {
    if (runtime.ranks() == 1) return;
    std::vector<double> halves;  // exact: each is below 2^32
    for (const std::uint64_t digest : digests_)
      for (const std::uint64_t half : {digest >> 32, digest & 0xffffffff})
        halves.push_back(static_cast<double>(half));
    largest_of_ranks(runtime, halves);  // the others have zeros
    for (std::size_t i = 0; i < digests_.size(); ++i)
      digests_[i] =
          static_cast<std::uint64_t>(halves[2 * i]) << 32 | static_cast<std::uint64_t>(halves[2 * i + 1]);
  }
  /// When the tasks are over.
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
  std::vector<std::uint64_t> digests_;  // of the tiles, row by row
};

}  // namespace fairlead::linalg
