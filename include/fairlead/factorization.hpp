// A factored matrix that serves any number of solves, and files with factors.
//
//   fairlead::linalg::Solver solver({.memory = 2_GiB});
//   auto f = solver.factor("A.npy");
//   const std::vector<double> x = f.solve(b);
//   f.save("A.factor");
//   auto g = fairlead::linalg::load_factorization("A.factor", {.memory = 512_MiB});  // in another program
//
// Included by <fairlead/solver.hpp> (docs/solver.md).
#pragma once
#include <fairlead/element_type.hpp>
#include <fairlead/error.hpp>
#include <fairlead/ids.hpp>
#include <fairlead/inertia.hpp>
#include <fairlead/log_determinant.hpp>

#include <complex>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <vector>

namespace fairlead::solver {
struct FactorizationAccess;
}

namespace fairlead::linalg {

enum class Method : std::uint8_t;
struct SolverOptions;

/// The program requested a stop: see Solver::stop_by() and Factorization::stop_by().
class CancelledError : public Error {
 public:
  using Error::Error;
};

/// The factors of a matrix, with the runtime that holds them. Used by the thread that made it; movable.
class Factorization {
 public:
  Factorization(Factorization&&) noexcept;
  Factorization& operator=(Factorization&&) noexcept;
  ~Factorization();

  /// Solves A x = b, or the least squares problem if A has more rows than columns. `b`: `columns` columns with as many
  /// elements as A has rows, one after the other. All columns are solved in one sweep over the factors in each
  /// direction. The solution is not checked: that needs A (`fairlead solve --factor`). b and x are not part of the memory
  /// limit. Throws UsageError if b does not match, or is in double precision and the factors are in single; InputError if
  /// a file with factors is damaged; NumericalError if an element of b or x is not finite.
  std::vector<double> solve(std::span<const double> b, std::int64_t columns = 1);
  /// With factors in double precision, the solution is computed in double precision and rounded.
  std::vector<float> solve(std::span<const float> b, std::int64_t columns = 1);
  /// Of complex or real factors. Real right-hand sides and complex factors throw UsageError: the solution is complex.
  std::vector<std::complex<double>> solve(std::span<const std::complex<double>> b, std::int64_t columns = 1);
  std::vector<std::complex<float>> solve(std::span<const std::complex<float>> b, std::int64_t columns = 1);
  /// Solves A^T x = b, without conjugation if A is complex. Throws UsageError if A is not square.
  std::vector<double> solve_transposed(std::span<const double> b, std::int64_t columns = 1);
  std::vector<float> solve_transposed(std::span<const float> b, std::int64_t columns = 1);
  std::vector<std::complex<double>> solve_transposed(std::span<const std::complex<double>> b,
                                                     std::int64_t columns = 1);
  std::vector<std::complex<float>> solve_transposed(std::span<const std::complex<float>> b,
                                                    std::int64_t columns = 1);
  /// Returns L z, for A = L L^T (complex: L L^H) factored by Cholesky: with a z of independent standard normal variables,
  /// a draw from the normal distribution whose covariance is A. `z`: `columns` columns, one after the other; otherwise as
  /// solve(). Throws UsageError for other methods.
  std::vector<double> multiply_lower(std::span<const double> z, std::int64_t columns = 1);
  std::vector<float> multiply_lower(std::span<const float> z, std::int64_t columns = 1);
  std::vector<std::complex<double>> multiply_lower(std::span<const std::complex<double>> z,
                                                   std::int64_t columns = 1);
  std::vector<std::complex<float>> multiply_lower(std::span<const std::complex<float>> z,
                                                  std::int64_t columns = 1);
  /// Throws UsageError if A is not square.
  LogDeterminant log_determinant();
  /// The numbers of positive, negative and zero eigenvalues of A, which is factored by Cholesky or as L T L^T
  /// (ldlt_inertia(), which states its cost: it needs memory beyond the limit). Throws UsageError for other methods, and
  /// for a complex matrix that is not Hermitian.
  Inertia inertia();

  Method method() const noexcept;
  std::int64_t rows() const noexcept;     ///< of A
  std::int64_t columns() const noexcept;  ///< of A
  ElementType precision() const noexcept;
  /// An estimate of the condition number of A in the infinity norm; none if it was not requested.
  std::optional<double> condition() const noexcept;
  /// Of LU: the largest element of U divided by that of A.
  std::optional<double> growth() const noexcept;
  /// Of a solution with these factors when A was factored.
  std::optional<double> backward_error() const noexcept;
  /// Bytes read so far from the spill file and the file with the factors.
  Bytes bytes_read() const;

  /// Writes a file with the factors, completely or not at all: an old file stays until the new one is complete. Needs no
  /// memory beyond the limit. Throws SystemError that names the file.
  void save(const std::string& path);

  /// Later calls end early with CancelledError once a stop is requested, which any thread may do. The factors stay usable
  /// with another token. Without this call nothing stops them, also if the solver that made them has a token.
  void stop_by(std::stop_token stop);

 private:
  friend struct solver::FactorizationAccess;
  class Implementation;
  explicit Factorization(std::unique_ptr<Implementation> implementation) noexcept;
  std::unique_ptr<Implementation> implementation_;
};

/// Opens a file with factors. Their tiles are read when a solve needs them, within options.memory; the file must stay
/// unchanged in the meantime. Of the options, memory, workers and config apply. Throws InputError that names the file if it
/// is another kind of file, of a newer version, truncated or damaged; later reads check each tile.
Factorization load_factorization(const std::string& path, const SolverOptions& options);
Factorization load_factorization(const std::string& path);

}  // namespace fairlead::linalg
