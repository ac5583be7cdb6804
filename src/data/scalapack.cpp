// ScaLAPACK's array descriptors: see <fairlead/scalapack.hpp>.
#include <fairlead/error.hpp>
#include <fairlead/scalapack.hpp>

#include <fmt/format.h>

#include <algorithm>

namespace fairlead::scalapack {

Descriptor descinit(int m, int n, int mb, int nb, int irsrc, int icsrc, int context, int lld,
                    const Grid& grid) {
  const auto require = [](bool good, int argument, const char* name, int value, const std::string& what) {
    if (!good)
      throw UsageError(fmt::format("argument {} of descinit, {}, is {}: {}", argument, name, value, what));
  };
  require(m >= 0, 2, "M", m, "at least 0");
  require(n >= 0, 3, "N", n, "at least 0");
  require(mb >= 1, 4, "MB", mb, "at least 1");
  require(nb >= 1, 5, "NB", nb, "at least 1");
  require(irsrc >= 0 && irsrc < grid.rows, 6, "IRSRC", irsrc, fmt::format("0 to {}", grid.rows - 1));
  require(icsrc >= 0 && icsrc < grid.columns, 7, "ICSRC", icsrc, fmt::format("0 to {}", grid.columns - 1));
  const int least = std::max(1, numroc(m, mb, grid.row, irsrc, grid.rows));
  require(lld >= least, 9, "LLD", lld, fmt::format("at least {}", least));
  return {dense_matrix, context, m, n, mb, nb, irsrc, icsrc, lld};
}

namespace {
void require_whole_tiles(const Descriptor& of, std::int32_t tile) {
  const auto fits = [tile](int size, int block) {
    return block % tile == 0 || (size <= block && tile >= block);
  };
  if (tile < 1 || !fits(of[m], of[mb]) || !fits(of[n], of[nb]))
    throw UsageError(
        fmt::format("tiles of {0} x {0} of a matrix in blocks of {1} x {2}: a block has whole tiles only",
                    tile, of[mb], of[nb]));
}
}  // namespace

Distribution distribution(const Descriptor& of, const Grid& grid, std::int32_t tile, Order order) {
  require_whole_tiles(of, tile);
  return Distribution([of, grid, tile, order](std::int32_t i, std::int32_t j) {
    const int row = indxg2p(i * tile, of[mb], of[rsrc], grid.rows);
    const int column = indxg2p(j * tile, of[nb], of[csrc], grid.columns);
    return static_cast<std::uint32_t>(order == Order::row_major ? row * grid.columns + column
                                                                : column * grid.rows + row);
  });
}

void require_described(const Descriptor& of, const Grid& grid, std::int64_t rows, std::int64_t columns,
                       std::int32_t tile, bool lower_only) {
  if (of[dtype] != dense_matrix)
    throw UsageError(fmt::format("a descriptor of type {}: only dense matrices, of type {}, are taken",
                                 of[dtype], dense_matrix));
  if (of[m] != rows || of[n] != columns)
    throw UsageError(
        fmt::format("a descriptor of {} x {} elements and a matrix of {} x {}", of[m], of[n], rows, columns));
  if (lower_only)
    throw UsageError(
        "ScaLAPACK's layout has all tiles of a matrix, and this one has those below the diagonal only");
  require_whole_tiles(of, tile);
  descinit(of[m], of[n], of[mb], of[nb], of[rsrc], of[csrc], of[ctxt], of[lld], grid);
}

}  // namespace fairlead::scalapack
