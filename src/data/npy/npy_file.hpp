// A matrix or vector in a NumPy .npy file, as a source of tiles. Rectangular blocks are read into column-major
// memory, whatever the order, type and byte order of the file. The file is never written.
// Reading is efficient along the file's order: whole bands of rows in C order, of columns in Fortran order, or at
// least 64 KiB of each. The kernel is advised not to keep pages that were read, so that the page cache does not use
// up the memory limit of a container.
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

/// The target of a block: column-major tiles, contiguous or not. Element (i, j) of the block belongs to tiles[(j /
/// tile_columns) * tile_rows_count + i / tile_rows].
template <class T>
struct TileGrid {
  std::span<T* const> tiles;                      ///< column by column; null: not needed
  std::uint64_t tile_rows = 0, tile_columns = 0;  ///< elements per side of a tile
  std::uint64_t ld = 0;                           ///< leading dimension of a tile, in elements
};

class NpyFile {
 public:
  /// Opens the file and reads the header. Throws InputError naming the file and the problem: missing, unreadable, not
  /// a regular file, the errors of npy_header.hpp, truncated (with the number of missing bytes), no elements, neither
  /// 1 nor 2 dimensions.
  explicit NpyFile(const std::filesystem::path& path);

  /// A file on another machine, of which only the header is known. Cannot be read.
  NpyFile(std::filesystem::path path, NpyHeader header)
      : path_(std::move(path)), header_(std::move(header)) {}

  const std::filesystem::path& path() const noexcept { return path_; }
  const NpyHeader& header() const noexcept { return header_; }
  int dimensions() const noexcept { return static_cast<int>(header_.shape.size()); }
  std::uint64_t rows() const noexcept { return header_.shape[0]; }
  std::uint64_t columns() const noexcept {
    return dimensions() == 2 ? header_.shape[1] : 1;
  }  ///< 1 for a vector
  ElementType element() const noexcept { return header_.element; }
  StorageOrder order() const noexcept { return header_.order; }

  /// The staging memory in bytes that a read allocates if none is passed in.
  static constexpr std::size_t staging_bytes = std::size_t{4} << 20;

  /// Reads the `row_count` x `column_count` elements from (row, column) on into column-major memory with leading
  /// dimension `ld`. T = float or double; elements of the other type are converted. `staging`: scratch memory of at
  /// least 16 bytes, a few MiB for speed; if empty, the call allocates staging_bytes. Any number of threads may read
  /// at once, each with its own staging. Throws UsageError if the block exceeds the matrix, InputError if the file
  /// has become shorter, SystemError if the system cannot read it.
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

  /// The same file; its first `bytes` data bytes stay in memory once read. Reads in chunks of 1 MiB.
  std::shared_ptr<const NpyFile> keeping(Bytes bytes) const;

  /// The same file, seen as the transposed matrix in the other order. Needs two dimensions.
  NpyFile transposed() const;

  /// Advises the kernel to drop all pages of the file. Reads below 64 KiB leave their pages, since neighbouring reads
  /// may need them; call this at the end of a pass.
  void forget_pages() const noexcept;

  /// Whether the file was modified since it was opened, judged by size and modification time.
  bool changed() const noexcept;

  /// Bytes read so far; repeated reads count again.
  Bytes bytes_read() const noexcept { return bytes_read_->load(std::memory_order_relaxed); }

 private:
  NpyFile() = default;
  NpyFile twin() const;
  void read_bytes(Bytes offset, std::span<std::byte> into) const;
  /// The elements of some lines if they are cached; otherwise null. All arguments in elements of the file.
  const std::byte* kept(std::uint64_t first, std::uint64_t lines, std::uint64_t stride,
                        std::uint64_t along) const;

  std::filesystem::path path_;
  FileDescriptor file_;
  NpyHeader header_;
  std::shared_ptr<KeptBytes> kept_;         // null: nothing is cached
  Bytes file_bytes_ = 0;                    // size when it was opened
  std::chrono::nanoseconds modified_at_{};  // when it was opened
  std::shared_ptr<std::atomic<Bytes>> bytes_read_ =
      std::make_shared<std::atomic<Bytes>>(0);  // shared with transposed() and keeping()
};

extern template void NpyFile::read_tiles<float>(std::uint64_t, std::uint64_t, std::uint64_t, std::uint64_t,
                                                const TileGrid<float>&, std::span<std::byte>) const;
extern template void NpyFile::read_tiles<double>(std::uint64_t, std::uint64_t, std::uint64_t, std::uint64_t,
                                                 const TileGrid<double>&, std::span<std::byte>) const;

}  // namespace fairlead::data
