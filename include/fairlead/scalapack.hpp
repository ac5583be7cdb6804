// Conversion from and to ScaLAPACK's layout: each process of a grid stores its blocks contiguously in a local array,
// and a descriptor of nine numbers specifies the layout (ScaLAPACK Users' Guide, section 4.3).
//
//   const scalapack::Grid grid{.rows = 2, .columns = 2, .row = my_row, .column = my_column};
//   const scalapack::Descriptor described = scalapack::descinit(n, n, 64, 64, 0, 0, context, local_rows, grid);
//   auto a = runtime.tiled<double>("A", n, n, 64, scalapack::distribution(described, grid, 64));
//   scalapack::take_in(flow, described, grid, array, a);   // every rank its own
//   ...
//   scalapack::give_back(flow, a, described, grid, array);
//   flow.wait();
//
// The ScaLAPACK library is not needed. As in C, rows, columns and processes are counted from 0.
#pragma once
#include <fairlead/codelet.hpp>
#include <fairlead/distribution.hpp>
#include <fairlead/flow.hpp>
#include <fairlead/tile.hpp>
#include <fairlead/tiled_matrix.hpp>

#include <array>
#include <cstdint>

namespace fairlead::scalapack {

/// The number of rows and columns of processes, and the position of this process.
struct Grid {
  int rows = 1, columns = 1;
  int row = 0, column = 0;
};

/// The numbering of the processes of a grid, as in BLACS: a rank has the number of its process.
enum class Order : std::uint8_t { row_major, column_major };

/// The fields of a descriptor.
enum Field : std::uint8_t { dtype, ctxt, m, n, mb, nb, rsrc, csrc, lld };
using Descriptor = std::array<int, 9>;
inline constexpr int dense_matrix = 1;  ///< the value of dtype; other kinds are rejected

/// The number of rows or columns that process `iproc` of `nprocs` has, for `n` rows or columns in blocks of `nb`, if
/// process `isrcproc` has the first block.
constexpr int numroc(int n, int nb, int iproc, int isrcproc, int nprocs) noexcept {
  const int distance = (nprocs + iproc - isrcproc) % nprocs, blocks = n / nb, beyond = blocks % nprocs;
  const int whole = blocks / nprocs * nb;
  return whole + (distance < beyond ? nb : distance == beyond ? n % nb : 0);
}
/// The process that has this global row or column.
constexpr int indxg2p(int global, int nb, int isrcproc, int nprocs) noexcept {
  return (isrcproc + global / nb) % nprocs;
}
/// The local index of a global row or column in its process; and the inverse.
constexpr int indxg2l(int global, int nb, int nprocs) noexcept {
  return nb * (global / (nb * nprocs)) + global % nb;
}
constexpr int indxl2g(int local, int nb, int iproc, int isrcproc, int nprocs) noexcept {
  return nprocs * nb * (local / nb) + local % nb + (nprocs + iproc - isrcproc) % nprocs * nb;
}

/// A descriptor of m x n elements in blocks of mb x nb; process (irsrc, icsrc) has the first block. Throws UsageError,
/// naming the first invalid argument, as the INFO of DESCINIT does.
Descriptor descinit(int m, int n, int mb, int nb, int irsrc, int icsrc, int context, int lld,
                    const Grid& grid);

/// The owners of tiles of `tile` x `tile` elements. Throws UsageError if a tile would belong to several processes:
/// `tile` must divide the sides of the blocks, unless the matrix is a single block.
Distribution distribution(const Descriptor& of, const Grid& grid, std::int32_t tile,
                          Order order = Order::row_major);

/// Throws UsageError if the matrix has another shape, or if its tiles are distributed differently.
void require_described(const Descriptor& of, const Grid& grid, std::int64_t rows, std::int64_t columns,
                       std::int32_t tile, bool lower_only);

namespace detail {
/// Calls f(handle, offset) for the tiles of this process; for a distributed matrix, for all tiles, since each rank
/// submits all tasks. `offset` is the position of a tile's first element in its process's array.
template <class T, class F>
void for_each_described_tile(const Descriptor& of, const Grid& grid, const TiledMatrix<T>& a, const F& f) {
  require_described(of, grid, a.rows(), a.columns(), a.tile(), a.lower_only());
  for (std::int32_t i = 0; i < a.tile_rows(); ++i)
    for (std::int32_t j = 0; j < a.tile_columns(); ++j) {
      const int row = i * a.tile(), column = j * a.tile();
      if (a.distribution() == nullptr && (indxg2p(row, of[mb], of[rsrc], grid.rows) != grid.row ||
                                          indxg2p(column, of[nb], of[csrc], grid.columns) != grid.column))
        continue;
      f(a(i, j), std::int64_t{indxg2l(row, of[mb], grid.rows)} +
                     std::int64_t{indxg2l(column, of[nb], grid.columns)} * of[lld]);
    }
}
}  // namespace detail

/// Submits tasks that copy this process's array into its tiles. The array must not change until the flow has been
/// waited for. Throws UsageError as require_described(), and for a tile that another rank owns.
template <class T>
void take_in(Flow& flow, const Descriptor& of, const Grid& grid, const T* array, const TiledMatrix<T>& a) {
  const std::int64_t distance = of[lld];
  const auto take = codelet("from ScaLAPACK").cpu([array, distance](Out<Tile<T>> tile, std::int64_t offset) {
    for (std::int32_t j = 0; j < tile.columns(); ++j)
      for (std::int32_t i = 0; i < tile.rows(); ++i) tile(i, j) = array[offset + i + j * distance];
  });
  detail::for_each_described_tile(
      of, grid, a, [&](const auto& tile, std::int64_t offset) { flow.submit(take(tile, offset)); });
}

/// The reverse. The array is complete after the flow has been waited for.
template <class T>
void give_back(Flow& flow, const TiledMatrix<T>& a, const Descriptor& of, const Grid& grid, T* array) {
  const std::int64_t distance = of[lld];
  const auto give = codelet("to ScaLAPACK").cpu([array, distance](In<Tile<T>> tile, std::int64_t offset) {
    for (std::int32_t j = 0; j < tile.columns(); ++j)
      for (std::int32_t i = 0; i < tile.rows(); ++i) array[offset + i + j * distance] = tile(i, j);
  });
  detail::for_each_described_tile(
      of, grid, a, [&](const auto& tile, std::int64_t offset) { flow.submit(give(tile, offset)); });
}

}  // namespace fairlead::scalapack
