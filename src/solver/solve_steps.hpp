// The steps of a solve, the same for all methods: the matrix into tiles, the factorization, the solution, its
// check and refinement, and how far it can be trusted.
#pragma once
#include <fairlead/config.hpp>
#include <fairlead/error.hpp>
#include <fairlead/linalg.hpp>

#include <complex>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "base/scalar.hpp"
#include "solver/execution.hpp"
#include "solver/factorization_checkpoint.hpp"
#include "solver/grid_rank.hpp"
#include "solver/kept_factors.hpp"
#include "solver/least_squares_check.hpp"
#include "solver/linear_system.hpp"
#include "solver/matrix_to_solve.hpp"
#include "solver/rank_decision.hpp"
#include "solver/tiled_factors.hpp"
#include "solver/trust.hpp"

namespace fairlead::solver {

constexpr std::size_t staging_of_vectors = 64 * 1024;  // of a reader of right-hand sides

/// An error that no precision avoids.
class NoPrecisionHelps : public NumericalError {
 public:
  using NumericalError::NumericalError;
};

/// Over several ranks: the matrix turned out to be unsuitable for the method. All ranks solve again with another one. On a
/// single rank SolveSteps continues with that one itself.
class MethodUnsuitable : public NumericalError {
 public:
  MethodUnsuitable(const std::string& why, const DenseOperation& fallback)
      : NumericalError(why), fallback_(&fallback) {}
  const DenseOperation& fallback() const noexcept { return *fallback_; }

 private:
  const DenseOperation* fallback_;
};

/// A solve; the solution is of type T.
template <class T>
class SolveSteps {
 public:
  /// `config`: its memory, tile, workers and devices. Throws InputError if a symmetric matrix is not square.
  SolveSteps(const LinearSystem& system, const SolveOptions& options, const Config& config,
             const linalg::Kernels& kernels, const GridRank& place);

  /// Bytes of the memory limit that the execution reserves.
  Bytes reserved() const noexcept { return reserved_; }
  /// The part of it that keeps what was read of the file of A; less memory suffices.
  Bytes kept() const noexcept { return kept_; }
  /// Solves, with the warnings of the execution. Throws NumericalError if the matrix is unsuitable for the
  /// method and there is no fallback. A result whose backward error is above the limit is wrong: that is not thrown.
  SolveResult run(Execution& run);
  /// The solution, one column after the other, each with as many elements as the longer side of A; the first ones are x.
  const std::vector<T>& solution() const noexcept { return x_; }
  /// After run() with keep_factors: the factors, which use the runtime of that execution.
  KeptFactors<T> take_factors() { return std::move(factors_); }

 private:
  using Factors = TiledFactors<T>;
  /// What the matrix is, whether the method suits it or not.
  struct FoundShape {
    bool is_symmetric = false;
    linalg::Stored triangle = linalg::Stored::both;  // that holds all elements
  };
  enum class Stage : std::uint8_t { reading, factoring, solved };
  /// failed_in_single: an attempt in TF32 in which nothing was rounded to TF32.
  enum class Attempt : std::uint8_t { succeeded, failed, failed_in_single };

  std::int64_t columns() const noexcept { return system_.right_hand_sides(); }
  bool is_wide() const noexcept { return system_.rows() < system_.unknowns(); }
  bool is_least_squares(const DenseOperation& method) const;
  SolvePrecision precision(const DenseOperation& method) const;
  std::shared_ptr<const linalg::MatrixSource<WideOf<T>>> right_hand_sides() const;
  template <class Element>
  std::unique_ptr<MatrixToSolve<Element>> matrix_of(const DenseOperation& method,
                                                    std::shared_ptr<const data::StoredMatrix> file) const;
  Bytes bytes_for(const DenseOperation& method);
  Bytes bytes_with_stored_factors() const;
  DenseProblem problem(const DenseOperation& method, ElementType element);
  DenseProblem own_problem(const DenseOperation& method, ElementType element) const;
  void read_right_hand_sides();

  void solve_in_precisions();
  std::string solve_by_fallback(const DenseOperation& fallback, const NumericalError& error);
  Attempt refined(FactorPrecision precision_of_factor, WideOf<T>* x);
  void direct(const DenseOperation& method);
  void with_stored_factors();
  KeptFactors<T> factored(const DenseOperation& method, MatrixToSolve<T>& matrix);
  void require_finite_solution() const;
  bool remains_unchecked();
  void finish(KeptFactors<T> kept, MatrixToSolve<T>* matrix);
  template <class Element>
  void factor(MatrixToSolve<Element>& matrix, const TiledMatrix<Element>& a, TiledFactors<Element>& factors);
  template <class Element>
  void use_checkpoints(const TiledMatrix<Element>& a, TiledFactors<Element>& factors);
  void finish_least_squares(KeptFactors<T> kept, MatrixToSolve<T>& matrix);
  void finish_minimum_norm(KeptFactors<T> kept, MatrixToSolve<T>& matrix);
  std::vector<T> solve_minimum_norm(const KeptFactors<T>& kept, RankDecision<T>& rank);
  RankDecision<T> rank_decision(const KeptFactors<T>& kept, InverseNormEstimate& of_inverse);
  void solve_with(const KeptFactors<T>& kept);
  void solve_with_reduced_rank(const KeptFactors<T>& kept, RankDecision<T>& rank);
  /// Where to go on if the matrix is unsuitable for the first method; null: nowhere.
  const DenseOperation* fallback() const noexcept;
  const DenseOperation& in_memory(const DenseOperation& fallback, std::string& reason);
  void measure_growth(const TiledMatrix<T>& a, const Factors& factors, double largest);
  void judge(MatrixToSolve<T>& matrix, const TiledMatrix<T>& a, Factors& factors);
  void judge_as_least_squares(MatrixToSolve<T>& matrix, const TiledMatrix<T>& a, Factors& factors,
                              RankDecision<T>& rank, const InverseNormEstimate& of_inverse);
  void find_loss_in_file();

  const LinearSystem& system_;
  const FactorizationCheckpoint checkpoint_;
  const SolveOptions options_;
  const Config config_;
  const GridRank place_;
  const std::size_t workers_;
  const std::int64_t m_, n_;  // of what is factored: A, or A^T if A has fewer rows than columns
  const linalg::Kernels kernels_;
  Bytes kept_ = 0;  // of the file of A, in memory
  Bytes reserved_ = 0;
  std::shared_ptr<const data::StoredMatrix> a_;  // A or A^T; may keep what was read in memory
  std::vector<T> x_;                             // b, which becomes the solution; of a wide A conj(b)
  std::vector<std::int64_t> below_single_;       // columns of b: of a file in single precision
  KeptFactors<T> factors_{};                     // if they are kept
  SolveResult result_;
  Stage stage_ = Stage::reading;
  FoundShape found_;                 // by reading
  double largest_in_symmetric_ = 0;  // of a method by which elements may grow: before the factorization
  Execution* run_ = nullptr;
};

/// What a file with factors states about the matrix.
FactoredMatrix factored_matrix(const data::StoredMatrix& a, linalg::Stored stored, const SolveResult& result);

extern template class SolveSteps<float>;
extern template class SolveSteps<double>;
extern template class SolveSteps<std::complex<float>>;
extern template class SolveSteps<std::complex<double>>;

}  // namespace fairlead::solver
