// Reads a matrix of any shape that is stored somewhere into tiles, and checks its elements.
#pragma once
#include <fairlead/flow.hpp>
#include <fairlead/runtime.hpp>

#include <atomic>
#include <complex>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "algorithms/linalg/band_codelets.hpp"
#include "algorithms/linalg/scratch_pool.hpp"
#include "data/matrix/stored_matrix.hpp"

namespace fairlead::linalg {

template <class T>
class GeneralReader {
 public:
  /// The staging memory of each worker, in bytes.
  static constexpr std::size_t scratch_bytes_per_worker = std::size_t{1} << 20;

  /// `is_transposed`: the user's matrix is the transpose of this one, for messages.
  explicit GeneralReader(std::shared_ptr<const data::StoredMatrix> matrix, bool is_transposed = false)
      : matrix_(std::move(matrix)),
        is_transposed_(is_transposed),
        by_columns_(matrix_->order() == data::StorageOrder::fortran),
        staging_(scratch_bytes_per_worker) {}

  /// Submits the tasks; each reads at most a quarter of `memory_bytes`, or one tile. The object must stay valid until
  /// the flow has been waited for. A task that reads an element that is not finite fails with a NumericalError that
  /// names its position.
  void submit(Flow& flow, const TiledMatrix<T>& tiles, Bytes memory_bytes, const ReadingRanks& readers = {});
  /// The number of tasks of submit().
  std::uint64_t tasks(const TiledMatrix<T>& tiles, Bytes memory_bytes, bool first_alone = false) const;
  /// Combines largest() over the ranks, after the flow has been waited for.
  void combine_ranks(Runtime& runtime);
  /// The largest absolute value of an element; valid after the flow has been waited for.
  double largest() const noexcept { return largest_.load(std::memory_order_relaxed); }

  /// Called by the tasks.
  void read(const LineBand& piece, std::span<T* const> tiles);

 private:
  template <class Each>
  void for_each_piece(const TiledMatrix<T>& tiles, Bytes memory_bytes, bool first_alone, Each each) const;
  double largest_of(const T* tile, std::int64_t rows, std::int64_t columns, std::int64_t first_row,
                    std::int64_t first_column) const;

  std::shared_ptr<const data::StoredMatrix> matrix_;
  bool is_transposed_, by_columns_;
  ScratchPool staging_;
  std::atomic<double> largest_ = 0;  // ordered by the completion of the flow
};

extern template class GeneralReader<float>;
extern template class GeneralReader<double>;
extern template class GeneralReader<std::complex<float>>;
extern template class GeneralReader<std::complex<double>>;

}  // namespace fairlead::linalg
