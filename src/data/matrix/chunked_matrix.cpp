// Cuts a block of the matrix into parts of chunks.
#include "data/matrix/chunked_matrix.hpp"

#include <algorithm>
#include <utility>

namespace fairlead::data {
namespace {

constexpr std::uint64_t chunks_for(std::uint64_t count, std::uint64_t side) noexcept {
  return count / side + (count % side != 0 ? 1 : 0);
}

/// Two rows of chunks have as many elements as two columns of chunks if chunks are square.
ArrayLayout read_along_chunks(ArrayLayout layout, const ChunkShape& chunk) {
  const std::uint64_t rows = layout.shape[0], columns = layout.shape.size() == 2 ? layout.shape[1] : 1;
  const double in_row_of_chunks = static_cast<double>(chunk.rows) * static_cast<double>(columns),
               in_column_of_chunks = static_cast<double>(chunk.columns) * static_cast<double>(rows);
  layout.order = in_row_of_chunks < in_column_of_chunks   ? StorageOrder::c
                 : in_row_of_chunks > in_column_of_chunks ? StorageOrder::fortran
                                                          : chunk.order;
  return layout;
}

}  // namespace

ChunkedMatrix::ChunkedMatrix(std::string name, ArrayLayout layout, ChunkShape chunk,
                             std::shared_ptr<const ChunkStore> store)
    : StoredMatrix(std::move(name), read_along_chunks(std::move(layout), chunk)),
      chunk_(chunk),
      store_(std::move(store)),
      cache_(cache_of(cache_bytes())) {}

Bytes ChunkedMatrix::cache_bytes() const noexcept {
  const std::uint64_t along =
      order() == StorageOrder::c ? chunks_for(columns(), chunk_.columns) : chunks_for(rows(), chunk_.rows);
  const Bytes chunk = chunk_bytes();
  return along > largest_cache / chunk / 2 ? std::max(chunk, largest_cache) : 2 * along * chunk;
}

std::shared_ptr<ChunkCache> ChunkedMatrix::cache_of(Bytes bytes) const {
  const std::uint64_t chunks_in_row =
      transposed_ ? chunks_for(rows(), chunk_.rows) : chunks_for(columns(), chunk_.columns);
  return std::make_shared<ChunkCache>(
      bytes, chunk_bytes(), [store = store_, chunks_in_row](std::uint64_t chunk, std::span<std::byte> into) {
        store->read_chunk(chunk / chunks_in_row, chunk % chunks_in_row, into);
      });
}

bool ChunkedMatrix::by_blocks() const noexcept {
  return order() == StorageOrder::c ? chunk_.columns < columns() : chunk_.rows < rows();
}

std::shared_ptr<const StoredMatrix> ChunkedMatrix::transposed() const {
  const StorageOrder other = chunk_.order == StorageOrder::c ? StorageOrder::fortran : StorageOrder::c;
  const auto matrix = std::make_shared<ChunkedMatrix>(name(), transposed_layout(),
                                                      ChunkShape{chunk_.columns, chunk_.rows, other}, store_);
  matrix->transposed_ = !transposed_;
  matrix->cache_ = cache_;
  return matrix;
}

std::shared_ptr<const StoredMatrix> ChunkedMatrix::keeping(Bytes bytes) const {
  const auto matrix = std::make_shared<ChunkedMatrix>(*this);
  matrix->cache_ = cache_of(cache_bytes() + bytes);
  return matrix;
}

void ChunkedMatrix::read(const ElementBlock& block, std::span<std::byte> /*staging*/,
                         ElementSink& sink) const {
  const std::uint64_t row_end = block.row + block.row_count, column_end = block.column + block.column_count;
  const std::uint64_t chunks_in_row =
      transposed_ ? chunks_for(rows(), chunk_.rows) : chunks_for(columns(), chunk_.columns);
  for (std::uint64_t row = block.row; row < row_end;) {
    const std::uint64_t chunk_row = row / chunk_.rows, in_row = row % chunk_.rows;
    const std::uint64_t row_count = std::min(row_end - row, chunk_.rows - in_row);
    for (std::uint64_t column = block.column; column < column_end;) {
      const std::uint64_t chunk_column = column / chunk_.columns, in_column = column % chunk_.columns;
      const std::uint64_t column_count = std::min(column_end - column, chunk_.columns - in_column);
      const std::shared_ptr<const std::byte> elements = cache_->get(
          transposed_ ? chunk_column * chunks_in_row + chunk_row : chunk_row * chunks_in_row + chunk_column);
      const bool by_rows = chunk_.order == StorageOrder::c;
      const std::uint64_t stride = by_rows ? chunk_.columns : chunk_.rows;
      const std::uint64_t first = by_rows ? in_row * stride + in_column : in_column * stride + in_row;
      sink.put({row - block.row, row_count, column - block.column, column_count},
               {.first = elements.get() + first * bytes_of(element()),
                .stride = stride,
                .order = chunk_.order,
                .element = element(),
                .byte_swapped = layout().byte_swapped});
      column += column_count;
    }
    row += row_count;
  }
}

}  // namespace fairlead::data
