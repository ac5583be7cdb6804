// The data of a saved factorization, in the order of the file, and their places in it.
#pragma once
#include <fairlead/detail/stored_factors.hpp>
#include <fairlead/element_type.hpp>
#include <fairlead/ids.hpp>
#include <fairlead/ldlt.hpp>
#include <fairlead/qr.hpp>

#include <cstddef>
#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "solver/dense_problem.hpp"

namespace fairlead::solver {

using linalg::detail::FactorPart;

/// What determines the data of a factorization.
struct FactorShape {
  const DenseOperation* operation = &cholesky_operation;
  ElementType element = ElementType::float64;
  std::int64_t rows = 0, columns = 0;
  std::int32_t tile = 0;
  std::int32_t inner_block = 0;  ///< of QR and LU with incremental pivoting
  linalg::QrTree tree = linalg::QrTree::flat;
  linalg::Symmetry symmetry = linalg::Symmetry::hermitian;  ///< of LDL^T of a complex matrix

  std::size_t element_bytes() const noexcept { return bytes_of(element); }
  std::int64_t tile_rows() const noexcept { return (rows + tile - 1) / tile; }
  std::int64_t tile_columns() const noexcept { return (columns + tile - 1) / tile; }
};

/// One datum: column-major without gaps.
struct FactorDatum {
  FactorPart part;
  std::int32_t i, k;  ///< the tile it belongs to
  std::int32_t rows, columns;
  std::uint32_t element_bytes;

  Bytes bytes() const noexcept {
    return static_cast<Bytes>(rows) * static_cast<Bytes>(columns) * element_bytes;
  }
  /// For messages: "tile (3, 1) of the matrix".
  std::string text() const;
};

class FactorLayout {
 public:
  /// Data start at multiples of this.
  static constexpr Bytes alignment = 4096;

  /// `first_offset`: of the first datum, a multiple of `alignment`.
  FactorLayout(const FactorShape& shape, Bytes first_offset);

  /// The number of data; computed without listing them.
  static std::uint64_t count(const FactorShape& shape) noexcept;

  std::size_t size() const noexcept { return data_.size(); }
  const FactorDatum& operator[](std::size_t index) const { return data_[index]; }
  Bytes offset(std::size_t index) const { return offsets_[index]; }
  /// With the zeros up to the next datum.
  Bytes padded_bytes(std::size_t index) const { return offsets_[index + 1] - offsets_[index]; }
  Bytes file_bytes() const noexcept { return offsets_.back(); }
  /// Throws UsageError if the factorization has no such datum.
  std::size_t index(FactorPart part, std::int32_t i, std::int32_t k) const;

 private:
  void add(FactorPart part, std::int64_t i, std::int64_t k, std::int64_t rows, std::int64_t columns,
           std::size_t element_bytes);

  std::vector<FactorDatum> data_;
  std::vector<Bytes> offsets_;  // one more than data: the end of the file
  std::unordered_map<std::uint64_t, std::uint32_t> index_;
};

}  // namespace fairlead::solver
