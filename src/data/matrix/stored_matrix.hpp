// A matrix or vector that is stored somewhere, as a source of tiles: in a file, in memory, or behind an interface of
// the user. Rectangular blocks are read into column-major tiles, whatever the order, type and byte order of the
// elements. A format implements read(), which passes the elements on as they are stored; conversion, checks of the
// arguments and staging memory are here.
#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <utility>

#include "data/matrix/array_layout.hpp"
#include "data/matrix/regular_file.hpp"
#include "data/matrix/tile_grid.hpp"

namespace fairlead::data {

class StoredMatrix {
 public:
  virtual ~StoredMatrix() = default;
  StoredMatrix& operator=(const StoredMatrix&) = delete;

  /// For messages: the path of a file.
  const std::string& name() const noexcept { return name_; }
  const ArrayLayout& layout() const noexcept { return layout_; }
  const std::vector<std::uint64_t>& shape() const noexcept { return layout_.shape; }
  int dimensions() const noexcept { return static_cast<int>(layout_.shape.size()); }
  std::uint64_t rows() const noexcept { return layout_.shape[0]; }
  /// 1 for a vector.
  std::uint64_t columns() const noexcept { return dimensions() == 2 ? layout_.shape[1] : 1; }
  ElementType element() const noexcept { return layout_.element; }
  /// The order in which it is efficient to read: whole bands of rows in C order, of columns in Fortran order, or at
  /// least 64 KiB of each.
  StorageOrder order() const noexcept { return layout_.order; }
  Bytes data_bytes() const noexcept { return layout_.data_bytes(); }

  /// The staging memory in bytes that a read allocates if none is passed in.
  static constexpr std::size_t staging_bytes = std::size_t{4} << 20;

  /// Reads the `row_count` x `column_count` elements from (row, column) on into column-major memory with leading
  /// dimension `ld`. T = float, double or a complex number of these; elements of other types are converted. `staging`:
  /// scratch memory of at least 16 bytes, aligned for double, a few MiB for speed; if empty, the call allocates
  /// staging_bytes. Any number of threads may read at once, each with its own staging. Throws UsageError if the block
  /// exceeds the matrix, InputError if the file has become shorter, or if the elements are complex and T is real,
  /// SystemError if the system cannot read it.
  template <class T>
  void read_block(std::uint64_t row, std::uint64_t row_count, std::uint64_t column,
                  std::uint64_t column_count, T* out, std::uint64_t ld,
                  std::span<std::byte> staging = {}) const {
    T* const one[] = {out};
    read_tiles<T>(row, row_count, column, column_count, {one, row_count, column_count, ld}, staging);
  }

  /// As read_block(), directly into a grid of tiles, so that a band is read only once.
  template <class T>
  void read_tiles(std::uint64_t row, std::uint64_t row_count, std::uint64_t column,
                  std::uint64_t column_count, const TileGrid<T>& grid,
                  std::span<std::byte> staging = {}) const;

  /// The same matrix, transposed: the elements of its rows are those of the columns of this one, and the order is the
  /// other one. Needs two dimensions.
  virtual std::shared_ptr<const StoredMatrix> transposed() const = 0;

  /// The same matrix; up to `bytes` bytes of it stay in memory once read.
  virtual std::shared_ptr<const StoredMatrix> keeping(Bytes bytes) const = 0;

  /// Advises the kernel to drop all pages of the file. Reads below 64 KiB leave their pages, since neighbouring reads
  /// may need them; call this at the end of a pass.
  virtual void forget_pages() const noexcept {}

  /// The file when it was opened; zeros if there is none.
  virtual FileVersion version() const noexcept { return {}; }

  /// Whether the file was modified since it was opened.
  virtual bool changed() const noexcept { return false; }

  /// Bytes read so far; repeated reads count again.
  virtual Bytes bytes_read() const noexcept { return 0; }

  /// True if nearly square blocks are cheaper than blocks of whole lines.
  virtual bool by_blocks() const noexcept { return false; }

  /// The memory in bytes that reading takes in addition to staging memory: a cache of decoded chunks, for example. And
  /// what each thread that reads at the same time takes.
  virtual Bytes memory_bytes() const noexcept { return 0; }
  virtual Bytes memory_bytes_per_thread() const noexcept { return 0; }

 protected:
  StoredMatrix(std::string name, ArrayLayout layout) : name_(std::move(name)), layout_(std::move(layout)) {}
  StoredMatrix(const StoredMatrix&) = default;

  /// Passes all elements of a block to `sink`, each once, in any number of rectangles. The block is not empty and
  /// inside of the matrix; `staging` holds at least one element.
  virtual void read(const ElementBlock& block, std::span<std::byte> staging, ElementSink& sink) const = 0;

  /// The layout of the transposed matrix.
  ArrayLayout transposed_layout() const;

 private:
  std::string name_;
  ArrayLayout layout_;
};

extern template void StoredMatrix::read_tiles<float>(std::uint64_t, std::uint64_t, std::uint64_t,
                                                     std::uint64_t, const TileGrid<float>&,
                                                     std::span<std::byte>) const;
extern template void StoredMatrix::read_tiles<double>(std::uint64_t, std::uint64_t, std::uint64_t,
                                                      std::uint64_t, const TileGrid<double>&,
                                                      std::span<std::byte>) const;
extern template void StoredMatrix::read_tiles<std::complex<float>>(std::uint64_t, std::uint64_t,
                                                                   std::uint64_t, std::uint64_t,
                                                                   const TileGrid<std::complex<float>>&,
                                                                   std::span<std::byte>) const;
extern template void StoredMatrix::read_tiles<std::complex<double>>(std::uint64_t, std::uint64_t,
                                                                    std::uint64_t, std::uint64_t,
                                                                    const TileGrid<std::complex<double>>&,
                                                                    std::span<std::byte>) const;

/// Throws InputError if the elements are complex, for code that supports real ones only.
void require_real(const StoredMatrix& matrix);

}  // namespace fairlead::data
