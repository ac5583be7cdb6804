// Shared by the programs that compute with Fairlead on CUDA devices and check the result without a second
// computation of that size: for one vector x, on the cores, with products of x and a newly generated matrix.
#pragma once
#include <fairlead/fairlead.hpp>
#include <fairlead/linalg.hpp>
#include <fairlead/matrix_source.hpp>
#include <fairlead/report.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <thread>
#include <vector>

#include "gpu_common.hpp"

namespace gpu {

namespace fl = fairlead;

inline std::vector<double> known_vector(std::int64_t n) {
  std::vector<double> x(static_cast<std::size_t>(n));
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = std::sin(static_cast<double>(i) + 1);
  return x;
}

/// A x, in double precision, on separate threads, with a block of rows each, before a runtime exists.
template <class T>
std::vector<double> times(const fl::linalg::MatrixSource<T>& a, const std::vector<double>& x) {
  const std::int64_t rows_of_all = a.rows(), columns_of_all = a.columns(),
                     threads = std::max(1U, std::thread::hardware_concurrency());
  std::vector<double> ax(static_cast<std::size_t>(rows_of_all));
  const auto rows_of = [&](std::int64_t begin, std::int64_t end) {
    constexpr std::int64_t height = 512, width = 64;
    std::vector<T> piece(static_cast<std::size_t>(height * width));
    for (std::int64_t row = begin; row < end; row += height)
      for (std::int64_t column = 0; column < columns_of_all; column += width) {
        const std::int64_t rows = std::min(height, end - row),
                           columns = std::min(width, columns_of_all - column);
        a.read(row, rows, column, columns, piece.data(), rows);
        for (std::int64_t j = 0; j < columns; ++j)
          for (std::int64_t i = 0; i < rows; ++i)
            ax[static_cast<std::size_t>(row + i)] +=
                static_cast<double>(piece[static_cast<std::size_t>(j * rows + i)]) *
                x[static_cast<std::size_t>(column + j)];
      }
  };
  std::vector<std::thread> all;
  for (std::int64_t i = 0; i < threads; ++i)
    all.emplace_back(rows_of, i * rows_of_all / threads, (i + 1) * rows_of_all / threads);
  for (std::thread& one : all) one.join();
  return ax;
}

/// Products of the tiles of a matrix with n columns and a vector: one task per tile, one vector per sum, so
/// that they are fast on a machine with many cores.
class VectorProducts {
 public:
  using Sums = std::vector<fl::Handle<fl::Vector<double>>>;

  VectorProducts(fl::Runtime& runtime, fl::Flow& flow, std::int64_t n, std::int64_t tile)
      : runtime_(runtime), flow_(flow), n_(n), tile_(tile) {}

  Sums zeros() {
    const auto clear = fl::codelet("clear").cpu(
        [](fl::Out<fl::Vector<double>> v) { std::fill(v.data(), v.data() + v.size(), 0.0); });
    Sums sums;
    for (std::int64_t first = 0; first < n_; first += tile_) {
      sums.push_back(runtime_.vector<double>("sum", std::min(tile_, n_ - first)));
      flow_.submit(clear(sums.back()));
    }
    return sums;
  }

  /// || sums - wanted || / || wanted ||, after all tasks.
  double apart(const Sums& sums, const std::vector<double>& wanted) {
    std::vector<double> off(sums.size()), of(sums.size());
    const auto compare = fl::codelet("compare").cpu(
        [](fl::In<fl::Vector<double>> got, const double* right, double* difference, double* whole) {
          for (std::int64_t i = 0; i < got.size(); ++i) {
            const double one = got.data()[i] - right[i];
            *difference += one * one;
            *whole += right[i] * right[i];
          }
        });
    for (std::size_t i = 0; i < sums.size(); ++i)
      flow_.submit(compare(sums[i], wanted.data() + static_cast<std::int64_t>(i) * tile_, &off[i], &of[i]));
    flow_.wait();
    double all_off = 0, whole = 0;
    for (std::size_t i = 0; i < off.size(); ++i) all_off += off[i], whole += of[i];
    return std::sqrt(all_off / whole);
  }

 private:
  fl::Runtime& runtime_;
  fl::Flow& flow_;
  const std::int64_t n_, tile_;
};

/// || A x - L (L^T x) || / || A x ||, all in double precision, from ax = A x.
template <class T>
double residual_of_cholesky(fl::Runtime& runtime, fl::Flow& flow, const fl::TiledMatrix<T>& l,
                            const std::vector<double>& x, const std::vector<double>& ax) {
  const std::int64_t tile = l.tile();
  const std::int32_t tiles = l.tile_rows();
  VectorProducts products(runtime, flow, static_cast<std::int64_t>(x.size()), tile);
  using Tile = fl::In<fl::Tile<T>>;
  using In = fl::In<fl::Vector<double>>;
  using InOut = fl::InOut<fl::Vector<double>>;
  // The upper triangle of a diagonal tile does not belong to L.
  const auto transposed = fl::codelet("L^T x").cpu([](Tile t, InOut v, const double* from, bool diagonal) {
    for (int j = 0; j < t.columns(); ++j) {
      const T* const column = &t(0, j);
      double sum = 0;
      for (int i = diagonal ? j : 0; i < t.rows(); ++i) sum += static_cast<double>(column[i]) * from[i];
      v.data()[j] += sum;
    }
  });
  const auto forward = fl::codelet("L y").cpu([](Tile t, In from, InOut v, bool diagonal) {
    for (int j = 0; j < t.columns(); ++j) {
      const T* const column = &t(0, j);
      for (int i = diagonal ? j : 0; i < t.rows(); ++i)
        v.data()[i] += static_cast<double>(column[i]) * from.data()[j];
    }
  });
  const VectorProducts::Sums y = products.zeros(), z = products.zeros();
  for (std::int32_t i = 0; i < tiles; ++i)
    for (std::int32_t j = 0; j <= i; ++j)
      flow.submit(transposed(l(i, j), y[static_cast<std::size_t>(j)], x.data() + i * tile, i == j));
  for (std::int32_t j = 0; j < tiles; ++j)
    for (std::int32_t i = j; i < tiles; ++i)
      flow.submit(forward(l(i, j), y[static_cast<std::size_t>(j)], z[static_cast<std::size_t>(i)], i == j));
  return products.apart(z, ax);
}

/// Upper bound of such a residual for a right factor.
template <class T>
inline constexpr double right_below = 1000 * (sizeof(T) == 8 ? 2.3e-16 : 1.2e-7);

/// Bytes between RAM and devices.
inline fl::Bytes crossed(const fl::Statistics& statistics) {
  fl::Bytes bytes = 0;
  for (const auto& link : statistics.links)
    if (link.home == "RAM") bytes += link.bytes_from_home() + link.bytes_to_home();
  return bytes;
}

/// The used memory of each device.
inline Json devices_json(const fl::Statistics& statistics) {
  Json devices = Json::array();
  for (const auto& node : statistics.nodes)
    if (node.name != "RAM")
      devices.add(Json::object(
          {{"name", node.name}, {"capacity_bytes", node.capacity}, {"peak_bytes", node.peak_bytes}}));
  return devices;
}

/// The configuration from the options of both programs.
inline fl::Config config_of(Arguments& arguments) {
  fl::Config config;
  config.set("devices", arguments.text("--devices", ""));
  config.set("memory", fmt::format("{}B", arguments.number("--memory", std::int64_t{1} << 30)));
  config.set("workers", fmt::format("{}", arguments.number("--workers", 1)));
  if (const std::string policy = arguments.text("--scheduler", ""); !policy.empty())
    config.set("scheduler", policy);
  config.set("fixed-order", arguments.text("--fixed-order", "no") == "yes");
  if (const std::string trace = arguments.text("--trace", ""); !trace.empty()) config.set("trace", trace);
  return config;
}

}  // namespace gpu
