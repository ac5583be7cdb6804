// Brings a matrix of any shape from an .npy file into tiles, a task for each, and looks at its elements on the
// way.
#pragma once
#include <fairlead/flow.hpp>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>

#include "algorithms/linalg/scratch_pool.hpp"
#include "data/npy/npy_file.hpp"

namespace fairlead::linalg {

template <class T>
class GeneralNpy {
 public:
  /// What reading takes of memory for each worker.
  static constexpr std::size_t scratch_bytes_per_worker = std::size_t{1} << 20;

  explicit GeneralNpy(std::shared_ptr<const data::NpyFile> file)
      : file_(std::move(file)), staging_(scratch_bytes_per_worker) {}

  /// This object must stay until the flow has been waited for. A task that meets an element which is not
  /// finite fails with a NumericalError that names its place.
  void submit(Flow& flow, const TiledMatrix<T>& tiles);
  static std::uint64_t tasks(const TiledMatrix<T>& tiles) noexcept {
    return static_cast<std::uint64_t>(tiles.tile_rows()) * static_cast<std::uint64_t>(tiles.tile_columns());
  }
  /// Of the sizes of all elements, once the flow has been waited for.
  double largest() const noexcept { return largest_.load(std::memory_order_relaxed); }

 private:
  void read(const TileView<T>& tile, std::int64_t row, std::int64_t column);

  std::shared_ptr<const data::NpyFile> file_;
  ScratchPool staging_;
  std::atomic<double> largest_ = 0;  // the flow's end orders it
};

extern template class GeneralNpy<float>;
extern template class GeneralNpy<double>;

}  // namespace fairlead::linalg
