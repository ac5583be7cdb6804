// Matrices in ScaLAPACK's layout, in and out: each process of a grid has the blocks that fall to it, one beside the other in an
// array of its own, and a descriptor of nine numbers says how (ScaLAPACK Users' Guide, section 4.3).
//
//   const scalapack::Grid grid{.rows = 2, .columns = 2, .row = my_row, .column = my_column};
//   const scalapack::Descriptor described = scalapack::descinit(n, n, 64, 64, 0, 0, context, local_rows, grid);
//   auto a = runtime.tiled<double>("A", n, n, 64, scalapack::distribution(described, grid, 64));
//   scalapack::take_in(flow, described, grid, array, a);   // every rank its own
//   ...
//   scalapack::give_back(flow, a, described, grid, array);
//   flow.wait();
//
// Nothing of ScaLAPACK is needed. Numbers are those of C: rows, columns and processes are counted from 0.
#pragma once
#include <fairlead/codelet.hpp>
#include <fairlead/distribution.hpp>
#include <fairlead/flow.hpp>
#include <fairlead/tile.hpp>
#include <fairlead/tiled_matrix.hpp>

#include <array>
#include <cstdint>

namespace fairlead::scalapack {

/// Of so many rows and columns of processes, and where this one is.
struct Grid {
  int rows = 1, columns = 1;
  int row = 0, column = 0;
};

/// How processes of a grid are numbered, as BLACS does: a rank's number is that of its process.
enum class Order : std::uint8_t { row_major, column_major };

/// What its numbers are.
enum Field : std::uint8_t { dtype, ctxt, m, n, mb, nb, rsrc, csrc, lld };
using Descriptor = std::array<int, 9>;
inline constexpr int dense_matrix = 1;  ///< of dtype: the only kind that is taken

/// How many of `n` rows or columns, in blocks of `nb`, process `iproc` of `nprocs` has if the first block is `isrcproc`'s.
constexpr int numroc(int n, int nb, int iproc, int isrcproc, int nprocs) noexcept {
  const int distance = (nprocs + iproc - isrcproc) % nprocs, blocks = n / nb, beyond = blocks % nprocs;
  const int whole = blocks / nprocs * nb;
  return whole + (distance < beyond ? nb : distance == beyond ? n % nb : 0);
}
/// Whose a row or column is.
constexpr int indxg2p(int global, int nb, int isrcproc, int nprocs) noexcept {
  return (isrcproc + global / nb) % nprocs;
}
/// Which of that process's own it is; and the other way round.
constexpr int indxg2l(int global, int nb, int nprocs) noexcept {
  return nb * (global / (nb * nprocs)) + global % nb;
}
constexpr int indxl2g(int local, int nb, int iproc, int isrcproc, int nprocs) noexcept {
  return nprocs * nb * (local / nb) + local % nb + (nprocs + iproc - isrcproc) % nprocs * nb;
}

/// A descriptor of m x n elements in blocks of mb x nb, the first of which is that process's. Throws UsageError that names the
/// first argument that is not allowed, as the INFO of DESCINIT does.
Descriptor descinit(int m, int n, int mb, int nb, int irsrc, int icsrc, int context, int lld,
                    const Grid& grid);

/// Who owns which tile of `tile` x `tile`. Throws UsageError unless that divides the blocks' sides, or the matrix has one block:
/// else a tile would be several processes'.
Distribution distribution(const Descriptor& of, const Grid& grid, std::int32_t tile,
                          Order order = Order::row_major);

/// Throws UsageError if the matrix is not of that shape, or its tiles are not dealt out so.
void require_described(const Descriptor& of, const Grid& grid, std::int64_t rows, std::int64_t columns,
                       std::int32_t tile, bool lower_only);

namespace detail {
/// Calls f(handle, offset) for the tiles of this process, or of all ranks, since each submits all tasks: where their first
/// element is in their process's array.
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

/// Submits tasks that bring this process's array into its tiles. The array stays as it is until the flow has been waited for.
/// Throws UsageError as require_described(), and for a tile that is another rank's.
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

/// The other way round: the array is written until the flow has been waited for.
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
