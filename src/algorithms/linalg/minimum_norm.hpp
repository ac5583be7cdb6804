// The least squares solution of smallest norm where the columns of A are not independent, or may not be: R of a tiled QR
// factorization goes into one piece of memory, in double precision, and its singular values decide (TruncatedTriangle).
// That piece is a datum of the runtime, so it counts in the memory limit and tiles of A make room for it. Over ranks each
// does the same with a piece of its own, and what rank 0 finds holds for all.
#pragma once
#include <fairlead/flow.hpp>
#include <fairlead/linalg.hpp>
#include <fairlead/runtime.hpp>

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "algorithms/linalg/truncated_triangle.hpp"

namespace fairlead::linalg {

template <class T>
class MinimumNorm {
 public:
  using Space = TruncatedTriangle::Space;

  /// `a`: factored; R is on and above its diagonal, `largest` the absolute value of its largest element, finite. It must
  /// stay. All ranks make it. Throws FootprintError if R does not fit into memory in one piece.
  MinimumNorm(Runtime& runtime, Kernels kernels, const TiledMatrix<T>& a, double largest, double tolerance);

  std::uint64_t tasks() const noexcept;
  double flops() const noexcept { return TruncatedTriangle::flops(n_); }

  // Each of these submits tasks, and waits for them with `wait`. Over ranks all call them.
  using Wait = std::function<void()>;
  /// R in one piece, and its singular values. Throws NumericalError if they cannot be computed, SystemError if the LAPACK
  /// lacks a routine.
  Spectrum decompose(Flow& flow, const Wait& wait);
  /// The first n rows of b, which has `ld` elements from a column to the next and is Q^T b, become the solution.
  void solve(Flow& flow, const Wait& wait, T* b, std::int64_t ld, std::int64_t columns);
  /// Of columns of n elements the norms of their projections on a space of R.
  template <class X>
  std::vector<double> projected(Flow& flow, const Wait& wait, const X* vectors, std::int64_t ld,
                                std::int64_t columns, Space space);

 private:
  template <class Body>
  void run(Flow& flow, const Wait& wait, const char* name, Body body);

  Runtime& runtime_;
  TruncatedTriangle triangle_;
  const TiledMatrix<T>& a_;
  std::int64_t n_;
  int exponent_;  // R is scaled by 2^-exponent_, so that nothing overflows
  TiledMatrix<double> whole_;
};

}  // namespace fairlead::linalg
