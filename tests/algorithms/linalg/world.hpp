// Shared by the tests of linear algebra: settings, kernels, generated and fetched matrices, and LAPACK's criteria for
// results (LAPACK Working Note 41: below 30 passes).
#pragma once
#include <fairlead/linalg.hpp>
#include <fairlead/runtime.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "algorithms/linalg/blas/blas.hpp"
#include "algorithms/linalg/fill.hpp"
#include "algorithms/linalg/generated_matrix.hpp"
#include "algorithms/linalg/plain_product.hpp"

namespace fairlead::linalg::testing {

inline constexpr Bytes plenty = Bytes{64} << 20;

struct Setting {
  std::size_t workers = 2;
  Bytes memory = plenty;
  std::string scheduler = "lws";
  std::string devices{};
  bool fixed_order = false;
  bool tf32 = false;  ///< for Cholesky factorizations
};

inline Config config_of(const Setting& setting) {
  Config config;
  config.set("workers", setting.workers);
  config.set("memory", setting.memory);
  config.set("scheduler", setting.scheduler);
  config.set("bind-threads", false);
  config.set("fixed-order", setting.fixed_order);
  if (!setting.devices.empty()) config.set("devices", setting.devices);
  return config;
}

inline const Kernels& kernels() {
  static const Kernels loaded = Kernels::load();
  return loaded;
}

/// A whole matrix in column-major memory.
template <class T>
struct Dense {
  std::int64_t rows = 0, columns = 0;
  std::vector<T> elements{};
  T& operator()(std::int64_t i, std::int64_t j) { return elements[static_cast<std::size_t>(i + j * rows)]; }
  const T& operator()(std::int64_t i, std::int64_t j) const {
    return elements[static_cast<std::size_t>(i + j * rows)];
  }
  bool operator==(const Dense&) const = default;
};

template <class T>
Dense<T> dense(const MatrixSource<T>& source) {
  Dense<T> result{source.rows(), source.columns()};
  result.elements.resize(static_cast<std::size_t>(result.rows * result.columns));
  source.read(0, result.rows, 0, result.columns, result.elements.data(), result.rows);
  return result;
}

template <class T>
Dense<T> transposed_of(const Dense<T>& a) {
  Dense<T> result{a.columns, a.rows};
  result.elements.resize(a.elements.size());
  for (std::int64_t j = 0; j < a.columns; ++j)
    for (std::int64_t i = 0; i < a.rows; ++i) result(j, i) = a(i, j);
  return result;
}

/// A source with given elements.
template <class T>
class GivenMatrix final : public MatrixSource<T> {
 public:
  explicit GivenMatrix(Dense<T> given) : given_(std::move(given)) {}
  std::int64_t rows() const override { return given_.rows; }
  std::int64_t columns() const override { return given_.columns; }
  void read(std::int64_t row, std::int64_t row_count, std::int64_t column, std::int64_t column_count, T* out,
            std::int64_t ld) const override {
    for (std::int64_t j = 0; j < column_count; ++j)
      for (std::int64_t i = 0; i < row_count; ++i) out[i + j * ld] = given_(row + i, column + j);
  }

 private:
  Dense<T> given_;
};

/// Tiles fetched by a task each; of the lower triangle, zeros above the diagonal.
template <class T>
Dense<T> fetch(Flow& flow, const TiledMatrix<T>& a, Tiles which = Tiles::all) {
  Dense<T> result{a.rows(), a.columns()};
  result.elements.resize(static_cast<std::size_t>(a.rows() * a.columns()));
  const auto fetch =
      codelet("fetch").cpu([&result, which](In<Tile<T>> tile, std::int64_t row, std::int64_t column) {
        for (int j = 0; j < tile.columns(); ++j)
          for (int i = 0; i < tile.rows(); ++i)
            if (which == Tiles::all || row + i >= column + j) result(row + i, column + j) = tile(i, j);
      });
  for (std::int32_t i = 0; i < a.tile_rows(); ++i)
    for (std::int32_t j = 0; j < a.tile_columns() && (which == Tiles::all || j <= i); ++j)
      flow.submit(
          fetch(a(i, j), static_cast<std::int64_t>(i) * a.tile(), static_cast<std::int64_t>(j) * a.tile()));
  flow.wait();
  return result;
}

/// The result of `compute(flow, a)` on a tiled matrix. `bytes_read`: from the spill file, if requested.
template <class T, class Compute>
Dense<T> computed(const std::shared_ptr<const MatrixSource<T>>& source, std::int32_t tile, Tiles which,
                  const Setting& setting, Bytes* bytes_read, Compute compute) {
  Runtime runtime(config_of(setting));
  const auto a = runtime.tiled<T>("A", source->rows(), source->columns(), tile, which);
  Flow flow(runtime);
  fill<T>(flow, source, a, which);
  compute(flow, a);
  wait_for_results(flow);
  if (bytes_read != nullptr) *bytes_read = runtime.disk_traffic().read;
  return fetch(flow, a, which);
}

/// The factor L of a matrix, computed by Fairlead.
template <class T>
Dense<T> factor(const std::shared_ptr<const MatrixSource<T>>& source, std::int32_t tile,
                const Setting& setting, Bytes* bytes_read = nullptr) {
  return computed<T>(source, tile, Tiles::lower, setting, bytes_read, [&setting](Flow& flow, const auto& a) {
    cholesky(flow, setting.tf32 ? kernels().in_tf32() : kernels(), a);
  });
}

/// Both factors of a matrix in one, computed by Fairlead without pivoting.
template <class T>
Dense<T> lu_factors(const std::shared_ptr<const MatrixSource<T>>& source, std::int32_t tile,
                    const Setting& setting, Bytes* bytes_read = nullptr) {
  return computed<T>(source, tile, Tiles::all, setting, bytes_read,
                     [](Flow& flow, const auto& a) { lu(flow, kernels(), a); });
}

/// || A - product(i, j) || / (n || A || eps), in the one norm.
template <class T, class Product>
double difference_from(const Dense<T>& a, Product product) {
  double norm = 0, residual = 0;
  for (std::int64_t j = 0; j < a.columns; ++j) {
    double sum = 0, difference = 0;
    for (std::int64_t i = 0; i < a.rows; ++i) {
      sum += std::abs(static_cast<double>(a(i, j)));
      difference += std::abs(static_cast<double>(a(i, j)) - product(i, j));
    }
    norm = std::max(norm, sum);
    residual = std::max(residual, difference);
  }
  return residual /
         (static_cast<double>(a.rows) * norm * static_cast<double>(std::numeric_limits<T>::epsilon()));
}

/// The elements that `element(i, j)` gives, column by column.
template <class Element>
std::vector<double> elements_of(std::int64_t rows, std::int64_t columns, Element element) {
  std::vector<double> all;
  all.reserve(static_cast<std::size_t>(rows * columns));
  for (std::int64_t j = 0; j < columns; ++j)
    for (std::int64_t i = 0; i < rows; ++i) all.push_back(static_cast<double>(element(i, j)));
  return all;
}

/// || A - X Y || / (n || A || eps): X has `inner` columns.
template <class T>
double difference_from_product(const Dense<T>& a, const std::vector<double>& x, const std::vector<double>& y,
                               std::int64_t inner) {
  const std::vector<double> product = plain_product(x, y, a.rows, inner, a.columns);
  return difference_from(
      a, [&](std::int64_t i, std::int64_t j) { return product[static_cast<std::size_t>(i + j * a.rows)]; });
}

/// || A - L L^T || / (n || A || eps).
template <class T>
double factor_residual(const Dense<T>& a, const Dense<T>& l) {
  const auto lower = [&](std::int64_t i, std::int64_t j) { return i >= j ? l(i, j) : T{0}; };
  const auto upper = [&](std::int64_t i, std::int64_t j) { return lower(j, i); };
  return difference_from_product(a, elements_of(a.rows, a.rows, lower), elements_of(a.rows, a.rows, upper),
                                 a.rows);
}

/// || A - L U || / (n || A || eps), of both factors in one matrix.
template <class T>
double lu_residual(const Dense<T>& a, const Dense<T>& factors) {
  const auto lower = [&](std::int64_t i, std::int64_t j) {
    return i == j ? T{1} : i > j ? factors(i, j) : T{0};
  };
  const auto upper = [&](std::int64_t i, std::int64_t j) { return i <= j ? factors(i, j) : T{0}; };
  const std::int64_t inner = std::min(a.rows, a.columns);
  return difference_from_product(a, elements_of(a.rows, inner, lower), elements_of(inner, a.columns, upper),
                                 inner);
}

/// || b - A x || / (|| A || || x || eps), in the one norm, the largest over the columns.
template <class T>
double solution_residual(const Dense<T>& a, const Dense<T>& x, const Dense<T>& b) {
  double norm = 0, worst = 0;
  for (std::int64_t j = 0; j < a.columns; ++j) {
    double sum = 0;
    for (std::int64_t i = 0; i < a.rows; ++i) sum += std::abs(static_cast<double>(a(i, j)));
    norm = std::max(norm, sum);
  }
  for (std::int64_t c = 0; c < x.columns; ++c) {
    double residual = 0, size = 0;
    for (std::int64_t i = 0; i < a.rows; ++i) {
      double r = static_cast<double>(b(i, c));
      for (std::int64_t j = 0; j < a.columns; ++j)
        r -= static_cast<double>(a(i, j)) * static_cast<double>(x(j, c));
      residual += std::abs(r);
      size += std::abs(static_cast<double>(x(i, c)));
    }
    worst =
        std::max(worst, residual / (norm * size * static_cast<double>(std::numeric_limits<T>::epsilon())));
  }
  return worst;
}

}  // namespace fairlead::linalg::testing
