// The least squares solution of smallest norm, for a matrix whose columns are or may be dependent. R of a tiled QR
// factorization is copied to contiguous memory in double precision, and its singular values determine the rank
// (TruncatedTriangle). That memory is a datum of the runtime, so it counts in the memory limit, and tiles of A are
// evicted for it. Each rank computes redundantly with a copy of its own; the results of rank 0 are used.
#pragma once
#include <fairlead/flow.hpp>
#include <fairlead/linalg.hpp>
#include <fairlead/runtime.hpp>

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "algorithms/linalg/truncated_triangle.hpp"
#include "base/scalar.hpp"

namespace fairlead::linalg {

template <class T>
class MinimumNorm {
 public:
  using Wide = WideOf<T>;
  using Space = typename TruncatedTriangle<Wide>::Space;
  using Form = typename TruncatedTriangle<Wide>::Form;

  /// `a`: the factored matrix with R on and above its diagonal; must stay valid. `largest`: the absolute value of its
  /// largest element, finite. Collective over the ranks. Throws FootprintError if R does not fit into memory in one
  /// piece.
  MinimumNorm(Runtime& runtime, Kernels kernels, const TiledMatrix<T>& a, double largest, double tolerance);

  std::uint64_t tasks() const noexcept;
  double flops() const noexcept { return TruncatedTriangle<Wide>::flops(n_); }

  // Each of these submits tasks, and calls `wait` to wait for them. Collective over the ranks.
  using Wait = std::function<void()>;
  /// Copies R into one piece and computes its singular values. Throws NumericalError if they cannot be computed,
  /// SystemError if the LAPACK lacks a routine.
  Spectrum decompose(Flow& flow, const Wait& wait);
  /// The first n rows of b, which is Q^H b with leading dimension `ld`, become the solution with R, or with R^H.
  void solve(Flow& flow, const Wait& wait, T* b, std::int64_t ld, std::int64_t columns,
             Form form = Form::plain);
  /// The norms of the projections of `columns` vectors of n elements on a space of R.
  std::vector<double> projected(Flow& flow, const Wait& wait, const Wide* vectors, std::int64_t ld,
                                std::int64_t columns, Space space);

 private:
  template <class Body>
  void run(Flow& flow, const Wait& wait, const char* name, Body body);

  Runtime& runtime_;
  TruncatedTriangle<Wide> triangle_;
  const TiledMatrix<T>& a_;
  std::int64_t n_;
  int exponent_;  // R is scaled by 2^-exponent_ to avoid overflow
  TiledMatrix<Wide> whole_;
};

}  // namespace fairlead::linalg
