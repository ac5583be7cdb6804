// A matrix or vector in a NumPy .npy file, as a source of tiles: rectangular pieces are read into
// column-major memory, whatever the order, type and byte order in the file. The file is never written.
//
// Reading is efficient along the file's order: whole bands of rows of a file in C order, of columns in
// Fortran order, or at least pieces of 64 KiB of them. The kernel is told not to keep what was read, so that
// the page cache does not eat the memory limit of a container.
#pragma once
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <type_traits>
#include <utility>

#include "base/file_descriptor.hpp"
#include "data/npy/kept_bytes.hpp"
#include "data/npy/npy_header.hpp"

namespace fairlead::data {

/// Column-major tiles, packed or not: where a piece of a matrix goes. Element (i, j) of the piece, counted
/// from its corner, belongs to tiles[(j / tile_columns) * tile_rows_count + i / tile_rows].
template <class T>
struct TileGrid {
  std::span<T* const> tiles;                      ///< one column of tiles after the other; null = not wanted
  std::uint64_t tile_rows = 0, tile_columns = 0;  ///< elements a side
  std::uint64_t ld = 0;                           ///< elements from one column of a tile to the next
};

class NpyFile {
 public:
  /// Opens the file and reads the header. Throws InputError naming the file and what is wrong: missing,
  /// unreadable, not a regular file, and all that npy_header.hpp names; truncated (says how many bytes are
  /// missing); no elements; dimensions other than 1 or 2.
  explicit NpyFile(const std::filesystem::path& path);

  /// One that another machine has, which has told this of its header: nothing can be read here.
  NpyFile(std::filesystem::path path, NpyHeader header)
      : path_(std::move(path)), header_(std::move(header)) {}

  const std::filesystem::path& path() const noexcept { return path_; }
  const NpyHeader& header() const noexcept { return header_; }
  int dimensions() const noexcept { return static_cast<int>(header_.shape.size()); }
  std::uint64_t rows() const noexcept { return header_.shape[0]; }
  std::uint64_t columns() const noexcept {
    return dimensions() == 2 ? header_.shape[1] : 1;
  }  ///< a vector has one
  ElementType element() const noexcept { return header_.element; }
  StorageOrder order() const noexcept { return header_.order; }

  /// The memory that a read needs besides its target, if none is passed in.
  static constexpr std::size_t staging_bytes = std::size_t{4} << 20;

  /// Reads the `row_count` x `column_count` elements from (row, column) on into column-major memory with `ld`
  /// elements from column to column. T = float or double; elements of the other type are converted. `staging`
  /// is scratch memory of at least 16 bytes, a few MiB for speed; if empty, staging_bytes are allocated for
  /// the call. Any number of threads may read at once, each with its own staging. Throws UsageError if the
  /// piece is not inside of the matrix; InputError if the file has become shorter; SystemError if the system
  /// cannot read it.
  template <class T>
  void read_block(std::uint64_t row, std::uint64_t row_count, std::uint64_t column,
                  std::uint64_t column_count, T* out, std::uint64_t ld,
                  std::span<std::byte> staging = {}) const {
    T* const one[] = {out};
    read_tiles<T>(row, row_count, column, column_count, {one, row_count, column_count, ld}, staging);
  }

  /// The same into a grid of tiles at once, so that a band is read once and goes straight to where it is
  /// wanted.
  template <class T>
  void read_tiles(std::uint64_t row, std::uint64_t row_count, std::uint64_t column,
                  std::uint64_t column_count, const TileGrid<T>& grid,
                  std::span<std::byte> staging = {}) const;

  /// The same file, of whose elements the first `bytes` stay in memory once they were read. In chunks of 1 MiB: what is near is
  /// read with them.
  std::shared_ptr<const NpyFile> keeping(Bytes bytes) const;

  /// The same file as that of the transposed matrix, in the other order; where the matrix has two dimensions.
  NpyFile transposed() const;

  /// Asks the kernel to keep nothing of the file: reads of less than 64 KiB at a time leave their pages,
  /// since a neighbour may want them. For the end of a pass over the file.
  void forget_pages() const noexcept;

  /// Whether somebody has written to the file since it was opened, by its size and its time of modification.
  bool changed() const noexcept;

  /// Read so far, again counted again.
  Bytes bytes_read() const noexcept { return bytes_read_->load(std::memory_order_relaxed); }

 private:
  NpyFile() = default;
  NpyFile twin() const;
  void read_bytes(Bytes offset, std::span<std::byte> into) const;
  /// The elements of some lines, if they are kept; else null. Counted in elements of the file.
  const std::byte* kept(std::uint64_t first, std::uint64_t lines, std::uint64_t stride,
                        std::uint64_t along) const;

  std::filesystem::path path_;
  FileDescriptor file_;
  NpyHeader header_;
  std::shared_ptr<KeptBytes> kept_;         // null: nothing is kept
  Bytes file_bytes_ = 0;                    // when it was opened
  std::chrono::nanoseconds modified_at_{};  // likewise
  std::shared_ptr<std::atomic<Bytes>> bytes_read_ =
      std::make_shared<std::atomic<Bytes>>(0);  // with transposed() and keeping()
};

extern template void NpyFile::read_tiles<float>(std::uint64_t, std::uint64_t, std::uint64_t, std::uint64_t,
                                                const TileGrid<float>&, std::span<std::byte>) const;
extern template void NpyFile::read_tiles<double>(std::uint64_t, std::uint64_t, std::uint64_t, std::uint64_t,
                                                 const TileGrid<double>&, std::span<std::byte>) const;

}  // namespace fairlead::data
