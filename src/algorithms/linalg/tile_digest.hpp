// A number for the contents of a matrix, the same for the same bits: shows that two runs gave the same result
// without keeping either.
#pragma once
#include <fairlead/flow.hpp>
#include <fairlead/tiled_matrix.hpp>

#include <bit>
#include <cstdint>
#include <type_traits>
#include <vector>

#include "base/random.hpp"

namespace fairlead::linalg {

/// Of the lower triangle: what is above the diagonal in tiles on it does not count. Depends on the tile,
/// since rounding does as well. Must live until the flow has waited.
template <class T>
class LowerDigest {
 public:
  /// A task for each tile.
  void submit(Flow& flow, const TiledMatrix<T>& a) {
    digests_.assign(static_cast<std::size_t>(tasks(a.tile_rows())), 0);
    const auto digest = codelet("digest").cpu([this](In<Tile<T>> tile, std::int32_t i, std::int32_t j) {
      digests_[static_cast<std::size_t>(tasks(i) + j)] = of(tile, i == j);
    });
    for (std::int32_t i = 0; i < a.tile_rows(); ++i)
      for (std::int32_t j = 0; j <= i; ++j) flow.submit(digest(a(i, j), i, j));
  }
  static std::int64_t tasks(std::int64_t tiles) noexcept { return tiles * (tiles + 1) / 2; }

  /// When the tasks are over.
  std::uint64_t value() const noexcept {
    std::uint64_t value = digests_.size();
    for (const std::uint64_t digest : digests_) value = Random::mix(value ^ digest) + 1;
    return value;
  }

 private:
  template <class View>
  static std::uint64_t of(const View& tile, bool on_diagonal) noexcept {
    using Bits = std::conditional_t<sizeof(T) == 8, std::uint64_t, std::uint32_t>;
    std::uint64_t value = 0;
    for (int c = 0; c < tile.columns(); ++c)
      for (int r = on_diagonal ? c : 0; r < tile.rows(); ++r)
        value = Random::mix(value ^ std::bit_cast<Bits>(tile(r, c))) + 1;
    return value;
  }

  std::vector<std::uint64_t> digests_;  // of the tiles, row by row
};

}  // namespace fairlead::linalg
