// Solutions to double precision with a factor in single precision, which takes half the time, memory and
// disk: the residual of the solution is computed in double precision from the matrix itself, which is made or
// read again for it and never kept; the factor solves for a correction; and so on until the residual is as
// small as one in double precision would be. Langou, Langou, Luszczek, Kurzak, Buttari, Dongarra 2006
// ("Exploiting the performance of 32 bit floating point arithmetic in obtaining 64 bit accuracy"), as
// LAPACK's dsposv.
//
//   fairlead::linalg::cholesky(flow, kernels, l);                         // of A rounded, in tiles of float
//   const auto made = fairlead::linalg::solve_refined(flow, runtime, kernels, l, a, b, x.data());
#pragma once
#include <fairlead/inverse_norm.hpp>
#include <fairlead/linalg.hpp>
#include <fairlead/matrix_source.hpp>
#include <fairlead/runtime.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

namespace fairlead::linalg {

/// The refinement of one solution, step by step, for programs that show progress; see solve_refined() for the
/// whole. A step is a correction, a wait, a residual, a wait, and judge(). The first correction is the
/// solution as the factor gives it.
class RefinedSolve {
 public:
  /// `l`: what cholesky() made of the matrix rounded to single precision, lower tiles. `a`: the matrix, any
  /// part of it. `x`: where the solution goes, column-major in memory as many rows and columns as b. All must
  /// stay. Throws UsageError if the shapes do not match. Over ranks all make it, and each gets the whole solution; `readers` of
  /// them read a and b: all, or 1, which is rank 0.
  RefinedSolve(Runtime& runtime, Kernels kernels, const TiledMatrix<float>& l,
               std::shared_ptr<const MatrixSource<double>> a, std::shared_ptr<const MatrixSource<double>> b,
               double* x, std::uint32_t readers = 1);
  RefinedSolve(const RefinedSolve&) = delete;
  RefinedSolve& operator=(const RefinedSolve&) = delete;
  ~RefinedSolve();

  /// What this takes of memory besides the tiles of the factor, and x.
  static std::size_t bytes(std::int64_t n, std::int64_t columns, std::size_t workers) noexcept;

  /// With `along`, a step of that estimate, which must be of the same factor, goes along in the same sweeps,
  /// if one is left.
  void submit_correction(Flow& flow, InverseNorm<float>* along = nullptr);
  /// Once the flow has been waited for.
  void submit_residual(Flow& flow);

  enum class State : std::uint8_t {
    improving,   // one more step
    converged,   // as good as a solution in double precision
    too_coarse,  // the factor makes no better corrections: the matrix is too ill-conditioned for it
  };
  /// How it stands after a step. It has converged when the backward error (see backward_error()) is below
  /// four roundings, 4 x 2^-53, and the corrections of all components of x have shrunk to a rounding of each or shrink no
  /// more; or when the error gets no better any more and is below sqrt(n) roundings, which is what
  /// LAPACK asks for. A step that does not halve the error is the last, and so is the thirtieth.
  State judge();

  int steps() const noexcept;
  /// || b - A x || / (|| A || || x || + || b ||) in the infinity norm, the largest over the columns.
  double backward_error() const noexcept;
  /// How large the residual may be in each row and | A | | x | + | b |, both relative to the largest component of x: as
  /// BackwardError has them. Of the last residual.
  std::vector<double> uncertain_residual() const;
  std::vector<double> sizes() const;
  /// || A || in the infinity norm, which is the one norm if A is symmetric; after the first residual.
  double matrix_norm() const noexcept;

 private:
  class Implementation;
  std::unique_ptr<Implementation> implementation_;
};

struct RefinedSolution {
  int steps = 0;
  double backward_error = 0;
};

/// The whole refinement; waits for the flow's tasks. Throws NumericalError, saying how far it came, if the
/// matrix is too ill-conditioned for a factor in single precision; else as RefinedSolve and
/// wait_for_results().
RefinedSolution solve_refined(Flow& flow, Runtime& runtime, const Kernels& kernels,
                              const TiledMatrix<float>& l, std::shared_ptr<const MatrixSource<double>> a,
                              std::shared_ptr<const MatrixSource<double>> b, double* x);

/// What solve_refined() throws, for programs that go step by step. `factor`: what it is in.
[[noreturn]] void throw_too_coarse(const RefinedSolve& solve, std::string_view factor = "single precision");

}  // namespace fairlead::linalg
