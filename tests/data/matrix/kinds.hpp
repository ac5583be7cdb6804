// The ways in which a matrix can be stored, for tests that hold for all of them. The files are written byte by byte by
// the specification of the format.
#pragma once
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <ostream>
#include <string>
#include <vector>

#include "data/matrix/memory_matrix.hpp"
#include "data/matrix/raw_file.hpp"
#include "data/npy/files.hpp"
#include "data/npy/npy_file.hpp"

namespace fairlead::data::test {

using Stored = std::shared_ptr<const StoredMatrix>;

struct MatrixKind {
  std::string name;
  std::optional<StorageOrder> order;  ///< in which it is read; none: it is stored in chunks
  /// Stores the matrix in the directory, as "A" with an extension, or in memory.
  std::function<Stored(const Directory&, std::uint64_t rows, std::uint64_t columns, const Elements&)> store;
  std::string file;  ///< the name in messages, without the directory

  friend std::ostream& operator<<(std::ostream& out, const MatrixKind& kind) { return out << kind.name; }
};

inline ArrayLayout layout_of(const std::string& descr, bool fortran, std::uint64_t rows,
                             std::uint64_t columns) {
  return {.element = descr.ends_with("f4") ? ElementType::float32 : ElementType::float64,
          .byte_swapped = descr[0] == '>',
          .order = fortran ? StorageOrder::fortran : StorageOrder::c,
          .shape = {rows, columns}};
}

inline MatrixKind npy_kind(const std::string& descr, bool fortran, int version) {
  return {
      "npy " + descr + (fortran ? " columns" : " rows"), fortran ? StorageOrder::fortran : StorageOrder::c,
      [=](const Directory& directory, std::uint64_t rows, std::uint64_t columns, const Elements& value_of) {
        return std::make_shared<const NpyFile>(
            directory.file("A.npy", header(version, dictionary(descr, fortran, shape(rows, columns))) +
                                        elements(descr, fortran, rows, columns, value_of)));
      },
      "A.npy"};
}

inline MatrixKind raw_kind(const std::string& descr, bool fortran, Bytes offset) {
  return {
      "raw " + descr + (fortran ? " columns" : " rows"), fortran ? StorageOrder::fortran : StorageOrder::c,
      [=](const Directory& directory, std::uint64_t rows, std::uint64_t columns, const Elements& value_of) {
        const auto path = directory.file(
            "A.bin", std::string(offset, '\x7f') + elements(descr, fortran, rows, columns, value_of));
        return open_raw_file(path, layout_of(descr, fortran, rows, columns), offset);
      },
      "A.bin"};
}

inline MatrixKind memory_kind(const std::string& descr, bool fortran, std::uint64_t padding) {
  return {
      "memory " + descr + (fortran ? " columns" : " rows"), fortran ? StorageOrder::fortran : StorageOrder::c,
      [=](const Directory&, std::uint64_t rows, std::uint64_t columns, const Elements& value_of) {
        const auto bytes =
            std::make_shared<const std::string>(elements(descr, fortran, rows, columns, value_of, padding));
        return std::make_shared<const MemoryMatrix>("A in memory", layout_of(descr, fortran, rows, columns),
                                                    reinterpret_cast<const std::byte*>(bytes->data()),
                                                    (fortran ? rows : columns) + padding, bytes);
      },
      "A in memory"};
}

/// All kinds.
inline std::vector<MatrixKind> matrix_kinds() {
  return {npy_kind("<f8", false, 1),   npy_kind("<f8", true, 1),     npy_kind("<f4", false, 1),
          npy_kind("<f4", true, 2),    npy_kind(">f8", false, 3),    npy_kind(">f4", true, 3),
          npy_kind(">f8", true, 1),    npy_kind("=f8", false, 2),    npy_kind("|f4", false, 1),
          raw_kind("<f8", false, 0),   raw_kind("<f8", true, 24),    raw_kind("<f4", true, 3),
          raw_kind(">f4", false, 1),   raw_kind(">f8", true, 5),     memory_kind("<f8", false, 0),
          memory_kind("<f8", true, 3), memory_kind("<f4", false, 5), memory_kind("<f4", true, 0)};
}

}  // namespace fairlead::data::test
