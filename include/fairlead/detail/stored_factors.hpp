// The data of a factorization other than the tiles of the matrix, and where they come from if it was computed before.
#pragma once
#include <fairlead/handle.hpp>
#include <fairlead/tile.hpp>
#include <fairlead/vector.hpp>

#include <cstdint>
#include <string>

namespace fairlead::linalg::detail {

/// What a datum contains. Files with factors have these numbers.
enum class FactorPart : std::uint8_t {
  matrix = 0,              ///< a tile of the matrix
  row_exchanges = 1,       ///< of a panel, in LU with partial pivoting
  lower = 2,               ///< of a pair of tiles, or of a diagonal tile, in LU with incremental pivoting
  pair_exchanges = 3,      ///< the same
  reflectors = 4,          ///< of a tile that QR reduced to a triangle
  triangular_factors = 5,  ///< of these
  joined_factors = 6,      ///< of a tile that another one annihilated
  // Of LDL^T, by block k on the diagonal: exchanges of rows and columns, and the factors of the band matrix.
  symmetric_exchanges = 7,
  band_exchanges = 8,
  band_diagonal = 9,
  band_below = 10,
  band_right = 11,
  band_second_right = 12,
};

/// Registers data whose content is stored outside of the runtime. Tasks may only read them.
template <class T>
class StoredFactors {
 public:
  virtual ~StoredFactors() = default;
  /// The datum that belongs to tile (i, k) of the matrix. `name`: for messages.
  virtual Handle<Tile<T>> tile(FactorPart part, std::int32_t i, std::int32_t k, const std::string& name,
                               std::int32_t rows, std::int32_t columns) = 0;
  virtual Handle<Vector<std::int32_t>> exchanges(FactorPart part, std::int32_t i, std::int32_t k,
                                                 const std::string& name, std::int64_t size) = 0;
};

}  // namespace fairlead::linalg::detail
