// See kept_factors.hpp.
#include "solver/kept_factors.hpp"

#include <fairlead/codelet.hpp>
#include <fairlead/error.hpp>

#include <algorithm>
#include <complex>
#include <cstddef>
#include <cstring>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "algorithms/linalg/column_scales.hpp"
#include "algorithms/linalg/distributed_columns.hpp"
#include "algorithms/linalg/lower_product.hpp"
#include "base/scalar.hpp"
#include "front/runtime/read_only_data.hpp"

namespace fairlead::solver {

namespace {

/// Registers the data of a file other than the tiles of the matrix.
template <class T>
class DataInFactorFile final : public linalg::detail::StoredFactors<T> {
 public:
  DataInFactorFile(Runtime& runtime, std::shared_ptr<const FactorFile> file)
      : runtime_(runtime), file_(std::move(file)) {}

  Handle<Tile<T>> tile(FactorPart part, std::int32_t i, std::int32_t k, const std::string& name,
                       std::int32_t rows, std::int32_t columns) override {
    return front::read_only_array<Tile<T>>(runtime_, name, {rows, columns, rows},
                                           content_of(part, i, k, rows, sizeof(T)));
  }
  Handle<Vector<std::int32_t>> exchanges(FactorPart part, std::int32_t i, std::int32_t k,
                                         const std::string& name, std::int64_t size) override {
    return front::read_only_array<Vector<std::int32_t>>(runtime_, name, {size, 1},
                                                        content_of(part, i, k, size, sizeof(std::int32_t)));
  }

 private:
  fairlead::detail::Fill content_of(FactorPart part, std::int32_t i, std::int32_t k, std::int64_t height,
                                    std::size_t element_bytes) {
    return [file = file_, index = file_->layout().index(part, i, k), height, element_bytes](
               void* to, std::int64_t row, std::int64_t rows, std::int64_t column, std::int64_t columns) {
      file->read(index, static_cast<Bytes>(row + column * height) * element_bytes,
                 {static_cast<std::byte*>(to), static_cast<std::size_t>(rows * columns) * element_bytes});
    };
  }

  Runtime& runtime_;
  std::shared_ptr<const FactorFile> file_;
};

template <class T>
fairlead::detail::Fill tiles_of(std::shared_ptr<const FactorFile> file) {
  return [file = std::move(file)](void* to, std::int64_t row, std::int64_t rows, std::int64_t column,
                                  std::int64_t columns) {
    const FactorLayout& layout = file->layout();
    const std::int64_t side = file->shape().tile;
    const std::size_t index = layout.index(FactorPart::matrix, static_cast<std::int32_t>(row / side),
                                           static_cast<std::int32_t>(column / side));
    const std::int64_t first = row % side + column % side * layout[index].rows;
    file->read(index, static_cast<Bytes>(first) * sizeof(T),
               {static_cast<std::byte*>(to), static_cast<std::size_t>(rows * columns) * sizeof(T)});
  };
}

/// Runs a phase that submit(tiles of x) begins.
template <class T, class Submit>
double apply_to_columns(Execution& run, const KeptFactors<T>& kept, T* x, std::int64_t rows,
                        std::int64_t columns, Sides sides, const Submit& submit) {
  const linalg::ColumnScales<T> scales(x, rows, columns);
  const std::int32_t side = kept.a->tile();
  const auto width =
      static_cast<std::int32_t>(sides == Sides::together ? std::max<std::int64_t>(side, columns) : side);
  linalg::DistributedColumns<T> tiles(run.runtime(), "x", x, rows, columns, TileSize(side, width),
                                      kept.a->distribution());
  submit(tiles.tiles());
  run.wait();
  tiles.gather();
  scales.undo(x);
  return run.end();
}

template <class T>
void begin_solve(Execution& run, const KeptFactors<T>& kept, const TiledMatrix<T>& b) {
  run.begin("solve", kept.factors->solve_tasks(b.tile_columns()),
            kept.problem.solve_flops(static_cast<double>(b.columns())));
}

}  // namespace

template <class T>
FactorShape KeptFactors<T>::shape() const {
  return {.operation = problem.operation,
          .element = element_type_of<T>,
          .rows = a->rows(),
          .columns = a->columns(),
          .tile = a->tile(),
          .inner_block = factors->inner_block(),
          .tree = problem.tree,
          .symmetry = factors->symmetry()};
}

DenseProblem problem_of(const FactorShape& shape) {
  DenseProblem problem{.operation = shape.operation,
                       .title = {},
                       .n = shape.columns,
                       .m = shape.rows == shape.columns ? 0 : shape.rows,
                       .tree = shape.tree,
                       .symmetry = shape.symmetry,
                       .tile = shape.tile,
                       .inner_block = shape.inner_block,
                       .element = shape.element,
                       .made = true};
  problem.title = shape.operation->solve->title(problem);
  return problem;
}

void set_scheduler_of_stored_factors(Config& config) {
  if (!config.has("scheduler")) config.set("scheduler", "eager");
}

template <class T>
KeptFactors<T> stored_factors(Runtime& runtime, const linalg::Kernels& kernels, const DenseProblem& problem,
                              std::shared_ptr<const FactorFile> file) {
  if (file->shape().element != element_type_of<T>)
    throw UsageError(file->name() + ": the factors are of another type");
  if (runtime.ranks() != 1)
    throw UsageError(file->name() + ": factors in a file are for one process, not for several ranks");
  const bool lower = problem.operation->tiles == Tiles::lower;
  KeptFactors<T> kept{.problem = problem, .a = nullptr, .factors = nullptr};
  kept.a = std::make_unique<const TiledMatrix<T>>(front::read_only_tiles<T>(
      runtime, "A", {.rows = problem.rows(), .columns = problem.n, .tile = problem.tile, .lower_only = lower},
      tiles_of<T>(file)));
  DataInFactorFile<T> data(runtime, file);
  kept.factors = make_factors<T>(problem, {.factor = kernels, .solve = kernels}, runtime, *kept.a, &data);
  return kept;
}

template <class T>
double solve_columns(Execution& run, const KeptFactors<T>& kept, T* x, std::int64_t columns, Sides sides) {
  return apply_to_columns(run, kept, x, kept.a->rows(), columns, sides, [&](const TiledMatrix<T>& b) {
    begin_solve(run, kept, b);
    run.compute([&](auto& front) { kept.factors->solve(front, b); });
  });
}

template <class T>
double solve_transposed_columns(Execution& run, const KeptFactors<T>& kept, T* x, std::int64_t columns,
                                Sides sides) {
  if (kept.a->rows() != kept.a->columns()) throw UsageError("a transposed solve needs a square matrix");
  const linalg::AppliedInverse<T> inverse = kept.factors->inverse();
  // A^T x = b is A^H conj(x) = conj(b).
  const auto conjugate_columns = [&] {
    if (is_complex_number<T>) std::transform(x, x + kept.a->rows() * columns, x, conjugate<T>);
  };
  conjugate_columns();
  const double seconds =
      apply_to_columns(run, kept, x, kept.a->rows(), columns, sides, [&](const TiledMatrix<T>& b) {
        begin_solve(run, kept, b);
        inverse.transposed(run.flow(), b);
      });
  conjugate_columns();
  return seconds;
}

template <class T>
double multiply_columns_by_lower(Execution& run, const KeptFactors<T>& kept, T* x, std::int64_t columns,
                                 Sides sides) {
  return apply_to_columns(run, kept, x, kept.a->rows(), columns, sides, [&](const TiledMatrix<T>& b) {
    run.begin("product", linalg::lower_product_tasks(kept.a->tile_rows(), b.tile_columns()),
              kept.problem.solve_flops(static_cast<double>(columns)) / 2);
    kept.factors->multiply_lower(run.flow(), b);
  });
}

template <class T>
double save_factors(Execution& run, const KeptFactors<T>& kept, FactorFileWriter& file) {
  if (run.runtime().ranks() != 1) throw UsageError("factors distributed over several ranks cannot be saved");
  const TiledMatrix<T>& a = *kept.a;
  const FactorLayout& layout = file.layout();
  // The waits below end before `file` does.
  const auto write_tile = codelet("save").cpu([&file](In<Tile<T>> tile, std::size_t index) {
    if (tile.leading_dimension() == tile.rows())
      return file.write(index,
                        std::as_bytes(std::span(tile.data(), static_cast<std::size_t>(tile.rows()) *
                                                                 static_cast<std::size_t>(tile.columns()))));
    throw UsageError("a tile to be saved is not contiguous");
  });
  const auto write_exchanges = codelet("save").cpu([&file](In<Vector<std::int32_t>> exchanges,
                                                           std::size_t index) {
    file.write(index, std::as_bytes(std::span(exchanges.data(), static_cast<std::size_t>(exchanges.size()))));
  });
  run.begin("saving", layout.size());
  for (std::int32_t k = 0; k < a.tile_columns(); ++k)
    for (std::int32_t i = a.lower_only() ? k : 0; i < a.tile_rows(); ++i)
      run.flow().submit(write_tile(a(i, k), layout.index(FactorPart::matrix, i, k)));
  kept.factors->visit_data(
      {.tile =
           [&](FactorPart part, std::int32_t i, std::int32_t k, const Handle<Tile<T>>& datum) {
             run.flow().submit(write_tile(datum, layout.index(part, i, k)));
           },
       .exchanges =
           [&](FactorPart part, std::int32_t i, std::int32_t k, const Handle<Vector<std::int32_t>>& datum) {
             run.flow().submit(write_exchanges(datum, layout.index(part, i, k)));
           }});
  return run.end_uncounted();
}

#define FAIRLEAD_KEPT_FACTORS_OF(T)                                                                         \
  template struct KeptFactors<T>;                                                                           \
  template KeptFactors<T> stored_factors<T>(Runtime&, const linalg::Kernels&, const DenseProblem&,          \
                                            std::shared_ptr<const FactorFile>);                             \
  template double solve_columns<T>(Execution&, const KeptFactors<T>&, T*, std::int64_t, Sides);             \
  template double solve_transposed_columns<T>(Execution&, const KeptFactors<T>&, T*, std::int64_t, Sides);  \
  template double multiply_columns_by_lower<T>(Execution&, const KeptFactors<T>&, T*, std::int64_t, Sides); \
  template double save_factors<T>(Execution&, const KeptFactors<T>&, FactorFileWriter&);
FAIRLEAD_KEPT_FACTORS_OF(float)
FAIRLEAD_KEPT_FACTORS_OF(double)
FAIRLEAD_KEPT_FACTORS_OF(std::complex<float>)
FAIRLEAD_KEPT_FACTORS_OF(std::complex<double>)
#undef FAIRLEAD_KEPT_FACTORS_OF

}  // namespace fairlead::solver
