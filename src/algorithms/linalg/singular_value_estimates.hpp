// Estimates the largest and the smallest singular value of the upper triangle R of a tiled matrix by power iteration
// with R^H R and its inverse. The estimates are bounds: at most the largest, at least the smallest. Starting with
// several random vectors makes it unlikely that an estimate is wrong by more than the factor
//
//   (sqrt(n) / 0.1)^(1 / (2 steps)), 3.2 at n = 10,000:
//
// the probability that all of eight vectors have a component of less than 0.1 / sqrt(n) in a given direction is 10^-8,
// and the growth over all steps is at least what remains of that component (Kuczynski, Wozniakowski 1992).
#pragma once
#include <fairlead/codelet.hpp>
#include <fairlead/inverse_norm.hpp>
#include <fairlead/linalg.hpp>
#include <fairlead/runtime.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <utility>
#include <vector>

#include "algorithms/linalg/blas/blas.hpp"
#include "algorithms/linalg/body_name.hpp"
#include "algorithms/linalg/distributed_columns.hpp"
#include "algorithms/linalg/generated_matrix.hpp"
#include "algorithms/linalg/shapes.hpp"
#include "algorithms/linalg/upper_solve.hpp"
#include "base/scalar.hpp"

namespace fairlead::linalg {

template <class T>
class SingularValueEstimates {
 public:
  static constexpr int steps = 3;
  /// The maximum factor between an estimate and the true value, except after an unlucky start.
  static double max_error_factor(std::int64_t n) noexcept {
    return std::pow(10 * std::sqrt(static_cast<double>(n)), 1.0 / (2 * steps));
  }
  static Bytes bytes(std::int64_t n) noexcept { return 2 * static_cast<Bytes>(n * vectors) * sizeof(T); }
  static std::uint64_t tasks(const TiledMatrix<T>& a) noexcept {
    return 4 * steps * upper_solve_tasks(a.tile_columns(), 1);
  }

  /// `a` must stay valid. Collective over the ranks.
  SingularValueEstimates(Runtime& runtime, Kernels kernels, const TiledMatrix<T>& a)
      : runtime_(runtime), kernels_(std::move(kernels)), a_(a), n_(a.columns()) {}

  using Wait = std::function<void()>;
  /// Infinite or NaN if intermediate values overflow T.
  double largest(Flow& flow, const Wait& wait) {
    return std::sqrt(growth(wait, [&](const TiledMatrix<T>& x, const TiledMatrix<T>& y, UpperForm form) {
      multiply(flow, x, y, form);
    }));
  }
  /// Requires a diagonal without zeros. 0 if intermediate values overflow T.
  double smallest(Flow& flow, const Wait& wait) {
    return 1 / std::sqrt(growth(
                   wait,
                   [&](const TiledMatrix<T>& x, const TiledMatrix<T>&, UpperForm form) {
                     const UpperForm other = form == UpperForm::plain ? UpperForm::adjoint : UpperForm::plain;
                     solve_upper(flow, kernels_, r_of_qr, a_, {&x}, other);
                   },
                   true));
  }

 private:
  static constexpr std::int64_t vectors = 8;
  static constexpr std::uint64_t seed = 1992;

  /// The growth factor of vectors in the last application of M^H M, the maximum over the vectors. apply() applies M, or
  /// M^H. `in_place`: the result is in x instead of y.
  template <class Apply>
  double growth(const Wait& wait, const Apply& apply, bool in_place = false) {
    std::vector<T> x(static_cast<std::size_t>(n_ * vectors)), y;
    const std::int64_t numbers = n_ * parts_of_number<T>;
    GeneratedUniform<RealOf<T>>(numbers, vectors, seed)
        .read(0, numbers, 0, vectors, parts_of(x.data()), numbers);
    normalize(x);
    double grown = 0;
    for (int step = 0; step < steps; ++step) {
      std::vector<double> of_vectors(static_cast<std::size_t>(vectors), 1);
      for (const UpperForm form : {UpperForm::plain, UpperForm::adjoint}) {
        y.assign(x.size(), T(0));
        {
          DistributedColumns<T> from = distributed("from", x), to = distributed("to", y);
          apply(from.tiles(), to.tiles(), form);
          wait();
          (in_place ? from : to).gather();
        }
        if (!in_place) x.swap(y);
        const std::vector<double> norms = normalize(x);
        for (std::size_t c = 0; c < norms.size(); ++c) of_vectors[c] *= norms[c];
      }
      grown = 0;
      for (const double one : of_vectors) {
        if (!std::isfinite(one)) return HUGE_VAL;
        grown = std::max(grown, one);
      }
    }
    return grown;
  }

  DistributedColumns<T> distributed(const char* name, std::vector<T>& memory) {
    return DistributedColumns<T>(runtime_, name, memory.data(), n_, vectors,
                                 TileSize(a_.tile(), static_cast<std::int32_t>(vectors)), a_.distribution());
  }

  /// Scales each vector to norm 1. Returns the previous norms.
  std::vector<double> normalize(std::vector<T>& all) const {
    std::vector<double> norms;
    for (std::int64_t c = 0; c < vectors; ++c) {
      T* const column = all.data() + c * n_;
      double largest = 0, squares = 0;
      for (std::int64_t i = 0; i < n_; ++i) largest = std::max(largest, magnitude(column[i]));
      for (std::int64_t i = 0; i < n_ && largest > 0; ++i) {
        const double part = magnitude(column[i]) / largest;
        squares += part * part;
      }
      norms.push_back(largest * std::sqrt(squares));
      for (std::int64_t i = 0; i < n_ && largest > 0; ++i)
        column[i] = scalar_cast<T>(scalar_cast<WideOf<T>>(column[i]) / largest / std::sqrt(squares));
    }
    return norms;
  }

  /// y := op(R) x, for y = 0.
  void multiply(Flow& flow, const TiledMatrix<T>& x, const TiledMatrix<T>& y, UpperForm form) {
    const bool transposed = form == UpperForm::adjoint;
    const auto add =
        codelet("multiply R")
            .cpu(body_of_type<T>, [kernels = kernels_, transposed](In<Tile<T>> r, In<Tile<T>> from,
                                                                   InOut<Tile<T>> to, bool diagonal) {
              if (diagonal) return add_triangle(r, from, to, transposed);
              kernels.blas().template gemm<T>(transposed ? adjoint<T> : Transpose::no, Transpose::no,
                                              to.rows(), to.columns(), from.rows(), 1, r.data(),
                                              r.leading_dimension(), from.data(), from.leading_dimension(), 1,
                                              to.data(), to.leading_dimension());
            });
    for (std::int32_t i = 0; i < a_.tile_columns(); ++i)
      for (std::int32_t j = i; j < a_.tile_columns(); ++j)
        flow.submit(on_owner_of(add(a_(i, j), x(transposed ? i : j, 0), y(transposed ? j : i, 0), i == j), a_,
                                i, j, x));
  }
  static void add_triangle(const In<Tile<T>>& r, const In<Tile<T>>& from, InOut<Tile<T>>& to,
                           bool transposed) {
    for (std::int32_t c = 0; c < to.columns(); ++c)
      for (std::int32_t j = 0; j < r.columns(); ++j)
        for (std::int32_t i = 0; i <= j; ++i)
          if (transposed)
            to(j, c) += conjugate(r(i, j)) * from(i, c);
          else
            to(i, c) += r(i, j) * from(j, c);
  }

  Runtime& runtime_;
  Kernels kernels_;
  const TiledMatrix<T>& a_;
  std::int64_t n_;
};

}  // namespace fairlead::linalg
