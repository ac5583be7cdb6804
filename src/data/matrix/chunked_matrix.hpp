// A matrix that is stored in rectangular chunks of one size, compressed or not. Decoded chunks are cached, so that each
// chunk is decoded few times although several tiles contain elements of it.
#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "data/matrix/chunk_cache.hpp"
#include "data/matrix/stored_matrix.hpp"

namespace fairlead::data {

/// Where chunks are read from: what a chunked format implements.
class ChunkStore {
 public:
  virtual ~ChunkStore() = default;
  /// Fills `into` with all elements of the chunk with these indices. Elements beyond the edge of the matrix may have any
  /// value. Any number of threads may read at once. Throws InputError or SystemError that names the file.
  virtual void read_chunk(std::uint64_t row, std::uint64_t column, std::span<std::byte> into) const = 0;

  // As in StoredMatrix:

  virtual FileVersion version() const noexcept = 0;
  virtual bool changed() const noexcept = 0;
  virtual Bytes bytes_read() const noexcept = 0;
  virtual void forget_pages() const noexcept {}
};

struct ChunkShape {
  std::uint64_t rows, columns;
  StorageOrder order;  ///< of the elements of a chunk
};

class ChunkedMatrix final : public StoredMatrix {
 public:
  /// The order of the layout is ignored: the matrix is read along rows or columns of chunks, whichever takes less
  /// memory.
  ChunkedMatrix(std::string name, ArrayLayout layout, ChunkShape chunk,
                std::shared_ptr<const ChunkStore> store);

  /// The largest cache in bytes, unless a chunk is larger. A cache of two rows of chunks (or columns, by the order)
  /// suffices to decode each chunk once when the matrix is read once.
  static constexpr Bytes largest_cache = Bytes{64} << 20;

  std::shared_ptr<const StoredMatrix> transposed() const override;
  std::shared_ptr<const StoredMatrix> keeping(Bytes bytes) const override;
  void forget_pages() const noexcept override { store_->forget_pages(); }
  FileVersion version() const noexcept override { return store_->version(); }
  bool changed() const noexcept override { return store_->changed(); }
  Bytes bytes_read() const noexcept override { return store_->bytes_read(); }
  bool by_blocks() const noexcept override;
  Bytes memory_bytes() const noexcept override { return cache_bytes(); }
  /// A chunk that is decoded, and its bytes as stored.
  Bytes memory_bytes_per_thread() const noexcept override { return 2 * chunk_bytes(); }

 protected:
  void read(const ElementBlock& block, std::span<std::byte> staging, ElementSink& sink) const override;

 private:
  Bytes chunk_bytes() const noexcept { return chunk_.rows * chunk_.columns * bytes_of(element()); }
  Bytes cache_bytes() const noexcept;
  std::shared_ptr<ChunkCache> cache_of(Bytes bytes) const;

  ChunkShape chunk_;
  bool transposed_ = false;  // in comparison with the store
  std::shared_ptr<const ChunkStore> store_;
  std::shared_ptr<ChunkCache> cache_;
};

}  // namespace fairlead::data
