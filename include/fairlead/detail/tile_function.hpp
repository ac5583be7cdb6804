// A function on tiles as the body of a task in JDF calls it: tile_dgemm('N', 'T', m, n, k, -1.0, A, lda, ...). What can
// be called is a table of these.
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace fairlead::linalg {
class Kernels;
}

namespace fairlead::detail {

/// One argument of a call: a tile, or a number.
struct TileArgument {
  void* data = nullptr;
  std::int32_t rows = 0, columns = 0, leading_dimension = 0;
  std::int64_t integer = 0;  ///< also of letters
  double real = 0;
};
using TileArguments = std::span<const TileArgument>;

/// How much of a tile a call uses.
struct TilePart {
  std::size_t argument = 0;
  std::int64_t rows = 0, columns = 0;
};

struct TileFunction {
  /// Arguments, one letter each: s, t, u, U, d: a letter of LR, NTC, LU, LUA, NU. i: an int. x: a real number. r, w: a
  /// tile that is read, changed. l: the distance between columns of the tile before it.
  static constexpr std::size_t most_arguments = 16, most_tiles = 3;

  std::string_view name;       ///< "gemm"
  std::string_view kernel;     ///< as durations are remembered
  std::string_view arguments;  ///< "ttiiixrlrlxwl"
  std::string_view written;    ///< as people write them: "transA, transB, m, n, k, alpha, A, lda, ..."
  /// What a result other than 0 means; empty: it has no result.
  std::string_view failure;
  /// Puts the parts of the tiles into `parts`; how many.
  std::size_t (*parts)(TileArguments, TilePart* parts);
  double (*flops)(TileArguments);
  int (*in_single)(const linalg::Kernels&, TileArguments);
  int (*in_double)(const linalg::Kernels&, TileArguments);
};

}  // namespace fairlead::detail
