// Functions on tiles that bodies of JDF tasks can call: tile_dgemm('N', 'T', m, n, k, -1.0, A, lda, ...). A table of
// TileFunction lists all of them.
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace fairlead::linalg {
class Kernels;
}

namespace fairlead::detail {

/// One argument of a call: a tile, a number, or a letter.
struct TileArgument {
  void* data = nullptr;
  std::int32_t rows = 0, columns = 0, leading_dimension = 0;
  std::int64_t integer = 0;  ///< also the code of a letter
  double real = 0;
};
using TileArguments = std::span<const TileArgument>;

/// The extents of the block of a tile that a call uses.
struct TilePart {
  std::size_t argument = 0;
  std::int64_t rows = 0, columns = 0;
};

struct TileFunction {
  static constexpr std::size_t most_arguments = 16, most_tiles = 3;

  std::string_view name;    ///< "gemm"
  std::string_view kernel;  ///< the name under which durations are recorded
  /// One letter per argument, such as "ttiiixrlrlxwl". s, t, u, U, d: a letter out of LR, NTC, LU, LUA, NU.
  /// i: an int. x: a real number. r, w: a tile that is read or changed. l: the leading dimension of the
  /// preceding tile.
  std::string_view arguments;
  std::string_view
      written;  ///< the parameters as in source code: "transA, transB, m, n, k, alpha, A, lda, ..."
  /// The meaning of a nonzero result; empty: the function returns nothing.
  std::string_view failure;
  /// Writes the block of each tile to `parts` and returns their number.
  std::size_t (*parts)(TileArguments, TilePart* parts);
  double (*flops)(TileArguments);
  int (*in_single)(const linalg::Kernels&, TileArguments);
  int (*in_double)(const linalg::Kernels&, TileArguments);
};

}  // namespace fairlead::detail
