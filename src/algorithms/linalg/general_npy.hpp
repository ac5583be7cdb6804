// Brings a matrix of any shape from an .npy file into tiles, and looks at its elements on the way.
#pragma once
#include <fairlead/flow.hpp>
#include <fairlead/runtime.hpp>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "algorithms/linalg/band_codelets.hpp"
#include "algorithms/linalg/scratch_pool.hpp"
#include "data/npy/npy_file.hpp"

namespace fairlead::linalg {

template <class T>
class GeneralNpy {
 public:
  /// What reading takes of memory for each worker.
  static constexpr std::size_t scratch_bytes_per_worker = std::size_t{1} << 20;

  explicit GeneralNpy(std::shared_ptr<const data::NpyFile> file)
      : file_(std::move(file)),
        by_columns_(file_->order() == data::StorageOrder::fortran),
        staging_(scratch_bytes_per_worker) {}

  /// Submits the tasks; no task takes more than a quarter of `memory_bytes`, if one tile is not more. This
  /// object must stay until the flow has been waited for. A task that meets an element which is not finite
  /// fails with a NumericalError that names its place.
  void submit(Flow& flow, const TiledMatrix<T>& tiles, Bytes memory_bytes, const NpyReaders& readers = {});
  /// How many tasks that is.
  std::uint64_t tasks(const TiledMatrix<T>& tiles, Bytes memory_bytes, bool first_alone = false) const;
  /// Over ranks, once the flow has been waited for: of all that these have read.
  void bring_together(Runtime& runtime);
  /// Of the sizes of all elements, once the flow has been waited for.
  double largest() const noexcept { return largest_.load(std::memory_order_relaxed); }

  /// For the tasks.
  void read(const NpyPiece& piece, std::span<T* const> tiles);

 private:
  template <class Each>
  void for_each_piece(const TiledMatrix<T>& tiles, Bytes memory_bytes, bool first_alone, Each each) const;
  T largest_of(const T* tile, std::int64_t rows, std::int64_t columns, std::int64_t first_row,
               std::int64_t first_column) const;

  std::shared_ptr<const data::NpyFile> file_;
  bool by_columns_;
  ScratchPool staging_;
  std::atomic<double> largest_ = 0;  // the flow's end orders it
};

extern template class GeneralNpy<float>;
extern template class GeneralNpy<double>;

}  // namespace fairlead::linalg
