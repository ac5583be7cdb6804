// The exchanges of rows and columns of a symmetric matrix of which only the lower triangle is stored, tile by tile.
//
// A panel of pivots exchanges the rows, and the columns, of one block with others below it, one after the other. In
// total, each row of the block comes from the block or from below (its *source*), and each row below that changes comes
// from the block. So the tiles below and right of the block change by elements of the block's old columns only, while
// the new columns of the block are collected from all tiles into a second column of tiles W first: W[r, k] is the old
// element in row r and in the column that becomes column k of the block. Then each task uses one tile and those of its
// row and column in the block and in W. In a Hermitian matrix, the elements above the diagonal are the conjugates.
#pragma once
#include <fairlead/codelet.hpp>
#include <fairlead/ldlt.hpp>
#include <fairlead/tile.hpp>
#include <fairlead/vector.hpp>

#include <complex>
#include <cstdint>

namespace fairlead::linalg {

/// In all of these, `first` is the first row of the block, and the other numbers are the first rows of tiles. Of tiles on
/// the diagonal, the elements on and below the diagonal are used and changed.
template <class T>
struct SymmetricExchangeKernels {
  using Tile = fairlead::Tile<T>;
  using Exchanges = Vector<std::int32_t>;

  explicit SymmetricExchangeKernels(Symmetry symmetry);

  /// W of the block's rows := what comes from the diagonal tile of the block.
  Codelet<In<Exchanges>, In<Tile>, Out<Tile>, std::int64_t> collect_block;
  /// From the tile of the block's columns below: W of its rows := what comes from the block, and the columns in W of the
  /// block's rows that come from these rows. The last parameter is the first row of the tile.
  Codelet<In<Exchanges>, In<Tile>, Out<Tile>, InOut<Tile>, std::int64_t, std::int64_t> collect_below;
  /// The tile in rows i and columns l, with its part of W, for i > l. Data: the tiles of the block's old columns in rows i
  /// and l and on the diagonal, the tile, and W in rows i and l. Numbers: first, i, l.
  Codelet<In<Exchanges>, In<Tile>, In<Tile>, In<Tile>, InOut<Tile>, InOut<Tile>, InOut<Tile>, std::int64_t,
          std::int64_t, std::int64_t>
      exchange;
  /// A tile on the diagonal below the block. Data: the tile of the block's old columns and the block's diagonal tile, the
  /// tile, and W.
  Codelet<In<Exchanges>, In<Tile>, In<Tile>, InOut<Tile>, InOut<Tile>, std::int64_t, std::int64_t>
      exchange_diagonal;
  /// The new columns of the block below its diagonal, from W in these rows and in those of the block.
  Codelet<In<Exchanges>, In<Tile>, In<Tile>, Out<Tile>, std::int64_t, std::int64_t> set_below;
  /// The new rows of the block's diagonal tile that come from the rows of a tile of W.
  Codelet<In<Exchanges>, In<Tile>, InOut<Tile>, std::int64_t, std::int64_t> set_block;
};

extern template struct SymmetricExchangeKernels<float>;
extern template struct SymmetricExchangeKernels<double>;
extern template struct SymmetricExchangeKernels<std::complex<float>>;
extern template struct SymmetricExchangeKernels<std::complex<double>>;

}  // namespace fairlead::linalg
