// See product.hpp.
#include "solver/product.hpp"

#include <fairlead/codelet.hpp>
#include <fairlead/error.hpp>
#include <fairlead/solver.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <utility>

#include "algorithms/linalg/blas/flops.hpp"
#include "algorithms/linalg/source_matrix.hpp"
#include "algorithms/linalg/stored_source.hpp"
#include "algorithms/linalg/tile_kernels.hpp"
#include "base/scalar.hpp"
#include "data/matrix/formats.hpp"
#include "front/runtime/read_only_data.hpp"
#include "solver/cancelled_by.hpp"
#include "solver/execution.hpp"
#include "solver/load_kernels.hpp"
#include "solver/product_tiling.hpp"
#include "solver/solver_options.hpp"

namespace fairlead::solver {

namespace {

using data::StoredMatrix;
using linalg::MatrixSink;
using linalg::ProductOptions;
using StoredPointer = std::shared_ptr<const StoredMatrix>;

std::int64_t signed_size(std::uint64_t size) noexcept { return static_cast<std::int64_t>(size); }

/// The product of A and B that C receives.
template <class T>
class StoredProduct {
 public:
  StoredProduct(StoredPointer a, StoredPointer b, MatrixSink<T>& c, const ProductOptions& options)
      : a_(std::move(a)),
        b_(std::move(b)),
        c_(c),
        config_(config_of({.memory = options.memory,
                           .tile = options.tile,
                           .workers = options.workers,
                           .config = options.config})),
        extents_{signed_size(a_->rows()), signed_size(b_->columns()), signed_size(a_->columns()), sizeof(T)} {
    require_match();
    // Tasks in the order in which they become ready: all tiles of the block use a column of tiles of A and a row of
    // tiles of B before the next ones are read.
    if (!config_.has("scheduler")) config_.set("scheduler", "eager");
    set_short_run(config_, flops(), (a_->rows() * a_->columns() + b_->rows() * b_->columns()) * sizeof(T));
  }

  void run(const std::stop_token& stop) {
    const linalg::Kernels kernels = load_kernels_unchanged(config_);
    const Bytes limit = config_.bytes("memory");
    const std::size_t workers = config_.count("workers");
    const std::size_t staging =
        std::clamp<Bytes>(limit / (64 * workers), 16 * 1024, linalg::source_staging_bytes);
    const Bytes reading = a_->memory_bytes() + b_->memory_bytes() +
                          workers * (2 * staging + a_->memory_bytes_per_thread() +
                                     b_->memory_bytes_per_thread() + c_.bytes_per_thread());
    tiling_ = product_tiling(extents_, limit > reading ? limit - reading : 0, workers,
                             config_.has("tile") ? static_cast<std::int32_t>(config_.count("tile")) : 0,
                             kernels.has_own_products());
    const std::int64_t height = tiling_.block_rows * tiling_.rows,
                       width = tiling_.block_columns * tiling_.columns;
    const std::size_t block = static_cast<std::size_t>(height * width);
    Execution execution(config_, reading + block * sizeof(T), kernels);
    const std::stop_callback on_stop(stop, [&execution] { execution.cancel(); });
    const auto memory = std::make_unique_for_overwrite<T[]>(block);
    const TiledMatrix<T> a = tiles_of(execution.runtime(), "A", a_, staging, {tiling_.rows, tiling_.inner}),
                         b = tiles_of(execution.runtime(), "B", b_, staging,
                                      {tiling_.inner, tiling_.columns}),
                         c = execution.runtime().tiled_in_place<T>("C", memory.get(), height, width, height,
                                                                   {tiling_.rows, tiling_.columns});
    execution.begin("product", tasks(a, b), flops());
    submit(execution.flow(), kernels, a, b, c);
    execution.end();
    for (const StoredPointer& matrix : {a_, b_})
      if (matrix->changed())
        throw InputError(fmt::format("{} has changed while it was read", matrix->name()));
  }

 private:
  double flops() const {
    return linalg::real_flops<T> * linalg::gemm_flops(static_cast<double>(extents_.rows),
                                                      static_cast<double>(extents_.columns),
                                                      static_cast<double>(extents_.inner));
  }
  void require_match() const {
    if (a_->columns() != b_->rows())
      throw UsageError(
          fmt::format("A has the shape {} and B the shape {}: A needs as many columns as B has rows",
                      data::shape_text(a_->shape()), data::shape_text(b_->shape())));
    if (c_.rows() != extents_.rows || c_.columns() != extents_.columns)
      throw UsageError(fmt::format("C has the shape ({}, {}), and the product ({}, {})", c_.rows(),
                                   c_.columns(), extents_.rows, extents_.columns));
    for (const StoredPointer& matrix : {a_, b_})
      if (!is_complex_number<T> && is_complex(matrix->element()))
        throw UsageError(matrix->name() + ": holds complex numbers: the product is complex");
  }

  static TiledMatrix<T> tiles_of(Runtime& runtime, const std::string& name, const StoredPointer& matrix,
                                 std::size_t staging, TileSize tile) {
    const auto source =
        std::make_shared<const linalg::StoredSource<T>>(matrix, staging, linalg::Shape::general);
    return front::read_only_tiles<T>(
        runtime, name, {.rows = source->rows(), .columns = source->columns(), .tile = tile},
        [source](void* to, std::int64_t row, std::int64_t rows, std::int64_t column, std::int64_t columns) {
          source->read(row, rows, column, columns, static_cast<T*>(to), rows);
        });
  }

  static std::uint64_t tasks(const TiledMatrix<T>& a, const TiledMatrix<T>& b) {
    const std::int64_t tiles_of_c = std::int64_t{a.tile_rows()} * b.tile_columns();
    return static_cast<std::uint64_t>(tiles_of_c * (a.tile_columns() + 1));
  }

  /// One block of C after the other, in the same memory. The tile of a block starts when the tile of the block before it
  /// has been written.
  void submit(Flow& flow, const linalg::Kernels& kernels, const TiledMatrix<T>& a, const TiledMatrix<T>& b,
              const TiledMatrix<T>& c) {
    const linalg::ProductKernels<T> tile(kernels, 1, 1);
    const auto store = codelet("store").cpu([this](In<Tile<T>> from, std::int64_t row, std::int64_t rows,
                                                   std::int64_t column, std::int64_t columns) {
      c_.write(row, rows, column, columns, from.data(), from.leading_dimension());
    });
    const auto block_rows = static_cast<std::int32_t>(tiling_.block_rows),
               block_columns = static_cast<std::int32_t>(tiling_.block_columns);
    for (std::int32_t row = 0; row < a.tile_rows(); row += block_rows)
      for (std::int32_t column = 0; column < b.tile_columns(); column += block_columns) {
        const auto each = [&](const auto& visit) {
          for (std::int32_t i = 0; i < std::min(block_rows, a.tile_rows() - row); ++i)
            for (std::int32_t j = 0; j < std::min(block_columns, b.tile_columns() - column); ++j) visit(i, j);
        };
        for (std::int32_t k = 0; k < a.tile_columns(); ++k)
          each([&](std::int32_t i, std::int32_t j) {
            if (k == 0)
              flow.submit(tile.set(a(row + i, k), b(k, column + j), c(i, j)));
            else
              flow.submit(tile.add(a(row + i, k), b(k, column + j), c(i, j)));
          });
        each([&](std::int32_t i, std::int32_t j) {
          flow.submit(store(c(i, j), std::int64_t{row + i} * tiling_.rows, std::int64_t{a.rows_of(row + i)},
                            std::int64_t{column + j} * tiling_.columns,
                            std::int64_t{b.columns_of(column + j)}));
        });
      }
  }

  StoredPointer a_, b_;
  MatrixSink<T>& c_;
  Config config_;
  ProductExtents extents_;
  ProductTiling tiling_{};
};

}  // namespace

template <class T>
void multiply_stored(const StoredPointer& a, const StoredPointer& b, MatrixSink<T>& c,
                     const ProductOptions& options) {
  StoredProduct<T> product(a, b, c, options);
  cancelled_by(options.stop, [&] { product.run(options.stop); });
  if (options.stop.stop_requested()) throw linalg::CancelledError("the computation was cancelled");
  c.commit();
}

template void multiply_stored<float>(const StoredPointer&, const StoredPointer&, MatrixSink<float>&,
                                     const ProductOptions&);
template void multiply_stored<double>(const StoredPointer&, const StoredPointer&, MatrixSink<double>&,
                                      const ProductOptions&);
template void multiply_stored<std::complex<float>>(const StoredPointer&, const StoredPointer&,
                                                   MatrixSink<std::complex<float>>&, const ProductOptions&);
template void multiply_stored<std::complex<double>>(const StoredPointer&, const StoredPointer&,
                                                    MatrixSink<std::complex<double>>&, const ProductOptions&);

}  // namespace fairlead::solver

namespace fairlead::linalg {

namespace {

template <class Wide, class T>
void multiply_sources(const MatrixSource<Wide>& a, const MatrixSource<Wide>& b, MatrixSink<T>& c,
                      const ProductOptions& options) {
  solver::multiply_stored(stored_matrix_of(not_owned(a)), stored_matrix_of(not_owned(b)), c, options);
}

}  // namespace

void multiply(const MatrixSource<double>& a, const MatrixSource<double>& b, MatrixSink<double>& c,
              const ProductOptions& options) {
  multiply_sources(a, b, c, options);
}
void multiply(const MatrixSource<double>& a, const MatrixSource<double>& b, MatrixSink<float>& c,
              const ProductOptions& options) {
  multiply_sources(a, b, c, options);
}
void multiply(const MatrixSource<std::complex<double>>& a, const MatrixSource<std::complex<double>>& b,
              MatrixSink<std::complex<double>>& c, const ProductOptions& options) {
  multiply_sources(a, b, c, options);
}
void multiply(const MatrixSource<std::complex<double>>& a, const MatrixSource<std::complex<double>>& b,
              MatrixSink<std::complex<float>>& c, const ProductOptions& options) {
  multiply_sources(a, b, c, options);
}
void multiply(const std::string& a, const std::string& b, const std::string& c,
              const ProductOptions& options) {
  const auto file_of_a = data::open_matrix_file(a), file_of_b = data::open_matrix_file(b);
  const bool single = is_single(file_of_a->element()) && is_single(file_of_b->element()),
             complex = is_complex(file_of_a->element()) || is_complex(file_of_b->element());
  with_scalar(element_type(single, complex), [&]<class T>() {
    const auto sink = npy_sink<T>(c, static_cast<std::int64_t>(file_of_a->rows()),
                                  static_cast<std::int64_t>(file_of_b->columns()));
    solver::multiply_stored<T>(file_of_a, file_of_b, *sink, options);
  });
}

}  // namespace fairlead::linalg
