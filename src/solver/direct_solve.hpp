// A solve of a small system in memory by LAPACK's own factorization, on the calling thread: the threads, tasks and files of
// an Execution would take longer than the solve. It checks the matrix and the solution as SolveSteps does; whatever needs
// more than one factorization and one solve is left to SolveSteps.
#pragma once
#include <fairlead/config.hpp>
#include <fairlead/linalg.hpp>

#include <complex>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/scalar.hpp"
#include "report/run_report.hpp"
#include "solver/inverse_estimate.hpp"
#include "solver/linear_system.hpp"

namespace fairlead::solver {

/// With fewer rows, threads cost more than they gain.
inline constexpr std::int64_t direct_rows_for_threads = 160;

/// Whether the system is so small, and so plain, that it should be tried. `config`: the settings that are given.
bool suits_direct_solve(const LinearSystem& system, const SolveOptions& options, const Config& config);

/// In the precision T of the solution.
template <class T>
class DirectSolve {
 public:
  DirectSolve(const LinearSystem& system, const SolveOptions& options, const linalg::Kernels& kernels,
              unsigned threads)
      : system_(system), options_(options), kernels_(kernels), threads_(threads), n_(system.unknowns()) {}

  /// Nothing: SolveSteps has to solve it, or to report what is wrong. That is so if the matrix does not suit the method,
  /// is complex and symmetric, is singular, has elements that are not finite or triangles that differ by rounding, or if the
  /// solution needs refinement or its condition a closer look.
  std::optional<SolveResult> run();

  /// As SolveSteps::solution().
  const std::vector<T>& solution() const noexcept { return x_; }
  const std::vector<report::PhaseReport>& phases() const noexcept { return phases_; }
  const std::vector<std::string>& warnings() const noexcept { return warnings_; }

 private:
  class Timer;

  bool read();
  bool read_as_symmetric();
  bool read_as_general();
  /// Continues with another method, which reads a matrix as the present one does.
  void fall_back(const DenseOperation& method, const std::string& why);
  bool factor();
  void apply_inverse(T* b, std::int64_t columns, linalg::Transpose op) const;
  void measure_growth();
  bool judge();
  bool estimate_condition(double matrix_norm, std::vector<double> uncertain_residual);
  bool is_symmetric() const noexcept { return method_->solve->symmetric; }
  /// By LDL^T.
  bool is_indefinite() const noexcept { return is_symmetric() && method_->solve->grows; }
  std::size_t elements(std::int64_t columns) const noexcept { return static_cast<std::size_t>(n_ * columns); }

  const LinearSystem& system_;
  const SolveOptions& options_;
  const linalg::Kernels& kernels_;
  const unsigned threads_;  // of the BLAS
  const std::int64_t n_;
  const DenseOperation* method_ = nullptr;
  std::string reason_;
  double largest_ = 0;  // of the elements of A, of LU and LDL^T
  // Becomes the factors. Not a vector, which would fill it with zeros; of the heap, whose pages stay for the next solve.
  std::unique_ptr<T[]> a_;
  mutable std::vector<std::int32_t> pivots_;  // sysv() does not change those of factors
  std::vector<T> x_;
  SolveResult result_;
  std::vector<report::PhaseReport> phases_;
  std::vector<std::string> warnings_;
};

extern template class DirectSolve<float>;
extern template class DirectSolve<double>;
extern template class DirectSolve<std::complex<float>>;
extern template class DirectSolve<std::complex<double>>;

}  // namespace fairlead::solver
