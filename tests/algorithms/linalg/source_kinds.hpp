// Sources of the user as stored matrices, next to files and memory.
#pragma once
#include <fairlead/matrix_source.hpp>

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "algorithms/linalg/source_matrix.hpp"
#include "algorithms/linalg/world.hpp"
#include "data/matrix/kinds.hpp"
#include "data/matrix/zarr_kinds.hpp"

namespace fairlead::linalg::testing {

enum class Preferred : std::uint8_t { rows, columns, blocks };

/// A source as a user writes it.
template <class T>
class UserSource final : public MatrixSource<T> {
 public:
  UserSource(std::uint64_t rows, std::uint64_t columns, data::test::Elements elements, Preferred preferred)
      : rows_(static_cast<std::int64_t>(rows)),
        columns_(static_cast<std::int64_t>(columns)),
        elements_(std::move(elements)),
        preferred_(preferred) {}

  std::int64_t rows() const override { return rows_; }
  std::int64_t columns() const override { return columns_; }
  std::string name() const override { return "A of the user"; }
  bool by_columns() const override { return preferred_ == Preferred::columns; }
  bool by_blocks() const override { return preferred_ == Preferred::blocks; }
  void read(std::int64_t row, std::int64_t row_count, std::int64_t column, std::int64_t column_count, T* out,
            std::int64_t ld) const override {
    for (std::int64_t j = 0; j < column_count; ++j)
      for (std::int64_t i = 0; i < row_count; ++i)
        out[i + j * ld] = static_cast<T>(
            elements_(static_cast<std::uint64_t>(row + i), static_cast<std::uint64_t>(column + j)));
  }

 private:
  std::int64_t rows_, columns_;
  data::test::Elements elements_;
  Preferred preferred_;
};

template <class T>
data::test::MatrixKind source_kind(Preferred preferred) {
  const bool by_columns = preferred == Preferred::columns;
  const char* const order = by_columns ? "columns" : preferred == Preferred::rows ? "rows" : "blocks";
  return {std::string("source of ") + (sizeof(T) == sizeof(float) ? "float by " : "double by ") + order,
          by_columns ? StorageOrder::fortran : StorageOrder::c,
          [preferred](const data::test::Directory&, std::uint64_t rows, std::uint64_t columns,
                      const data::test::Elements& elements) {
            return std::make_shared<const SourceMatrix<T>>(
                std::make_shared<const UserSource<T>>(rows, columns, elements, preferred));
          },
          "A of the user"};
}

/// Kinds whose elements are of double precision.
inline std::vector<data::test::MatrixKind> double_precision_kinds() {
  using namespace data::test;
  return {npy_kind("<f8", false, 1),
          npy_kind("<f8", true, 1),
          raw_kind(">f8", false, 5),
          raw_kind(">f8", true, 16),
          memory_kind("<f8", false, 3),
          memory_kind("<f8", true, 0),
          zarr_kind({.chunk_rows = 40, .chunk_columns = 60}),
          zarr_kind({.version = 3,
                     .descr = ">f8",
                     .fortran = true,
                     .chunk_rows = 50,
                     .chunk_columns = 33,
                     .codec = "gzip"}),
          source_kind<double>(Preferred::rows),
          source_kind<double>(Preferred::columns),
          source_kind<double>(Preferred::blocks)};
}

inline std::shared_ptr<const data::StoredMatrix> store(const data::test::MatrixKind& kind,
                                                       const data::test::Directory& directory,
                                                       const Dense<double>& a) {
  return kind.store(directory, static_cast<std::uint64_t>(a.rows), static_cast<std::uint64_t>(a.columns),
                    [elements = a](std::uint64_t row, std::uint64_t column) {
                      return elements(static_cast<std::int64_t>(row), static_cast<std::int64_t>(column));
                    });
}

}  // namespace fairlead::linalg::testing
