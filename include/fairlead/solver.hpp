// Solves systems of linear equations and least squares problems whose matrix may be larger than memory, and reports how
// far the solution can be trusted.
//
//   fairlead::linalg::Solver solver({.memory = 2_GiB});
//   const std::vector<double> x = solver.solve("A.npy", b);
//   std::cout << solver.report().backward_error << '\n';
//
// It does what `fairlead solve` does (docs/solver.md), in one process or over ranks.
#pragma once
#include <fairlead/config.hpp>
#include <fairlead/element_type.hpp>
#include <fairlead/error.hpp>
#include <fairlead/factorization.hpp>
#include <fairlead/ids.hpp>
#include <fairlead/literals.hpp>
#include <fairlead/matrix_file.hpp>
#include <fairlead/matrix_source.hpp>
#include <fairlead/ranks.hpp>
#include <fairlead/stored.hpp>

#include <complex>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

namespace fairlead::linalg {

/// A factorization by which a system is solved.
enum class Method : std::uint8_t {
  automatic,  ///< cholesky if the matrix is symmetric (or complex Hermitian) positive definite, ldlt if it is symmetric
              ///< or Hermitian, triangular if it is that, qr if it has more rows than columns, else lu
  cholesky,        ///< for symmetric or Hermitian positive definite matrices
  ldlt,            ///< for symmetric matrices, and complex ones that are Hermitian or symmetric
  lu,              ///< with partial pivoting, for any square matrix
  lu_incremental,  ///< with incremental pivoting, for any square matrix: elements may grow more
  lu_nopivot,      ///< without pivoting, for diagonally dominant matrices
  qr,              ///< for matrices of any shape: least squares, or the solution of smallest norm
  triangular,  ///< for triangular matrices: substitution. With Stored::lower or upper, only that triangle is read;
               ///< otherwise the elements on one side of the diagonal must be zero
};
/// As the command has it: "lu-incremental"; "automatic".
std::string_view name_of(Method method) noexcept;

struct SolverOptions {
  Bytes memory = 0;  ///< limit of the memory for matrices and vectors; 0: what is free
  Method method = Method::automatic;
  std::int32_t tile = 0;    ///< side of a tile in elements; 0: chosen
  std::size_t workers = 0;  ///< threads that compute; 0: one for each core
  /// Factor in single precision and refine the solution to double; falls back to double precision if the matrix is too
  /// ill-conditioned. For symmetric positive definite matrices.
  bool refine = false;
  bool condition =
      true;  ///< estimate the condition number and the forward error: four sweeps over the factor
  /// Fewer digits of the solution that can be trusted are an error; 1 to 15, in single precision to 6.
  std::optional<int> required_digits{};
  /// For qr: singular values up to this fraction of the largest count as zero, and the solution is the least squares
  /// solution of least norm; below 1. 0: the columns are independent. Nothing: for a matrix that is not square, epsilon
  /// times its larger dimension; a square one is not examined.
  std::optional<double> rank_tolerance{};
  /// Of a symmetric matrix: all but `both` require cholesky or ldlt. Of a triangular one `lower` or `upper`: its triangle.
  Stored stored = Stored::both;
  /// To solve over several ranks: called for each run, on all of them; launched_rank() for those of mpirun. All ranks
  /// then call solve() with the same system and options, and all get the solution. A source of a matrix is only asked for
  /// the blocks that its rank needs. Nothing: one process.
  std::function<Rank()> rank{};
  /// All other settings: devices, scheduler, disk-directory, blas, ... (docs/configuration.md).
  Config config = Config::from_environment();
};

/// The time of one part of a solve.
struct SolvePhase {
  std::string name;  ///< "reading", "factorization", "solve", "error check", ...
  double seconds = 0;
  bool counts = true;  ///< in SolveReport::seconds; checks and estimates do not
};

/// How good a solution is, and what it cost.
struct SolveReport {
  Method method = Method::automatic;  ///< that has solved the system
  std::string method_reason;          ///< why, if the method was chosen; otherwise empty
  std::int64_t rows = 0, columns = 0, right_hand_sides = 0;
  ElementType precision = ElementType::float64;  ///< of the solution

  /// || b - A x || / (|| A || || x || + || b ||) in the infinity norm, the largest over the right-hand sides. Above the
  /// limit the solution is wrong. For least squares that of the nearest problem that x solves.
  double backward_error = 0, backward_error_limit = 0;
  int refinement_steps = 0;
  std::optional<double> condition{};      ///< an estimate, in the infinity norm; infinite on overflow
  std::optional<double> forward_error{};  ///< bound of || x - true x || / || x ||; infinite: unknown
  std::optional<int> digits{};            ///< of the solution that can be trusted, by that bound
  std::optional<double> growth{};         ///< of LU: the largest element of U divided by that of A
  std::optional<double> asymmetry{};      ///< largest difference of the triangles, relative to the elements
  std::optional<double> residual{};       ///< of least squares: || b - A x || / || b || in the two norm
  std::optional<std::int64_t> rank{};     ///< of least squares: independent columns of the matrix

  std::int32_t tile = 0;
  double seconds = 0;  ///< of the phases that count
  std::vector<SolvePhase> phases;
  Bytes bytes_read = 0, bytes_written = 0;  ///< from and to the spill file
  std::vector<std::string> warnings;        ///< one sentence each, without a full stop
};

/// What a solve is expected to need, before it runs. Bytes and times are those of the same tasks in virtual time, with the
/// durations and the disk bandwidth that earlier runs on this machine have measured (docs/solve.md).
struct SolvePlan {
  Method method = Method::automatic;
  std::string method_reason;  ///< why, if the method was chosen; otherwise empty
  std::int64_t rows = 0, columns = 0, right_hand_sides = 0;
  ElementType precision = ElementType::float64;
  std::int32_t tile = 0;
  std::size_t workers = 0;

  Bytes memory = 0;                           ///< the limit
  Bytes least_memory = 0;                     ///< smallest possible limit, with a tile that suits it
  Bytes in_core_memory = 0;                   ///< smallest limit without a spill file
  Bytes disk_space = 0, free_disk_space = 0;  ///< of the spill file; in its directory
  Bytes input_bytes = 0, output_bytes = 0;    ///< read from A and b in all passes; of x
  Bytes spill_bytes_read = 0;                 ///< until x is known
  Bytes spill_bytes_written = 0;              ///< likewise
  Bytes check_bytes_read = 0, check_bytes_written = 0;  ///< from and to the spill file afterwards

  /// Until x is checked and its error is estimated; with the bounds between which it is expected. They follow from the
  /// spread of measured durations, and from the assumptions.
  double seconds = 0, least_seconds = 0, most_seconds = 0;
  std::vector<SolvePhase> phases;
  std::vector<std::string> assumptions;  ///< one sentence each, without a full stop: what was not measured
};

/// A matrix in memory, which is read in place.
template <class T>
struct MatrixView {
  const T* elements = nullptr;
  std::int64_t rows = 0, columns = 0;
  StorageOrder order = StorageOrder::fortran;
  std::int64_t leading_dimension =
      0;  ///< elements between the starts of columns, in C order of rows; 0: adjacent
};

/// A solver may be used any number of times, by one thread at a time.
class Solver {
 public:
  /// Throws UsageError for options that exclude each other or are out of range.
  explicit Solver(SolverOptions options = {});
  Solver(Solver&&) noexcept;
  Solver& operator=(Solver&&) noexcept;
  ~Solver();

  /// Solves A x = b, or the least squares problem if A has more rows than columns. `b`: `right_hand_sides` columns with
  /// as many elements as A has rows, one after the other. Returns as many columns with as many elements as A has columns.
  /// In single precision the solution is as accurate as single precision permits. The matrix is read several times.
  ///
  /// Throws NumericalError if A is unsuitable for the method (not positive definite, not symmetric, singular, an element
  /// is not finite), or if the solution cannot be trusted: its backward error is above the limit, or fewer than
  /// required_digits digits are certain. InputError if the matrix has an unsuitable shape or cannot be read, UsageError if
  /// b does not match, SystemError if the system lacks memory or disk space, and FootprintError or ConfigError if the
  /// memory limit is too small.
  std::vector<double> solve(const MatrixSource<double>& a, std::span<const double> b,
                            std::int64_t right_hand_sides = 1);
  std::vector<float> solve(const MatrixSource<float>& a, std::span<const float> b,
                           std::int64_t right_hand_sides = 1);
  std::vector<double> solve(const MatrixView<double>& a, std::span<const double> b,
                            std::int64_t right_hand_sides = 1);
  std::vector<float> solve(const MatrixView<float>& a, std::span<const float> b,
                           std::int64_t right_hand_sides = 1);
  /// Computes in single precision if the elements of A are stored in it, otherwise in double precision and rounds x.
  std::vector<float> solve(const MatrixSource<double>& a, std::span<const float> b,
                           std::int64_t right_hand_sides = 1);
  /// A matrix in a file: see open_matrix().
  std::vector<double> solve(const std::string& a, std::span<const double> b,
                            std::int64_t right_hand_sides = 1);
  /// Complex systems, by Cholesky and by LU factorizations with partial pivoting and without. A real matrix is factored in
  /// real numbers, by any method, for the real parts of b and the imaginary ones.
  using Complex = std::complex<double>;
  using ComplexFloat = std::complex<float>;
  std::vector<Complex> solve(const MatrixSource<Complex>& a, std::span<const Complex> b,
                             std::int64_t right_hand_sides = 1);
  std::vector<ComplexFloat> solve(const MatrixSource<ComplexFloat>& a, std::span<const ComplexFloat> b,
                                  std::int64_t right_hand_sides = 1);
  std::vector<Complex> solve(const MatrixView<Complex>& a, std::span<const Complex> b,
                             std::int64_t right_hand_sides = 1);
  std::vector<ComplexFloat> solve(const MatrixView<ComplexFloat>& a, std::span<const ComplexFloat> b,
                                  std::int64_t right_hand_sides = 1);
  std::vector<ComplexFloat> solve(const MatrixSource<Complex>& a, std::span<const ComplexFloat> b,
                                  std::int64_t right_hand_sides = 1);
  std::vector<Complex> solve(const MatrixSource<double>& a, std::span<const Complex> b,
                             std::int64_t right_hand_sides = 1);
  std::vector<ComplexFloat> solve(const MatrixSource<double>& a, std::span<const ComplexFloat> b,
                                  std::int64_t right_hand_sides = 1);
  std::vector<Complex> solve(const std::string& a, std::span<const Complex> b,
                             std::int64_t right_hand_sides = 1);

  /// Factors A for any number of solves. The factors are checked by a solve whose right-hand side consists of ones, so
  /// the errors are those of solve(); but a matrix that is singular to rounding is a warning. Throws UsageError for the
  /// options refine and rank_tolerance.
  Factorization factor(const MatrixSource<double>& a);
  Factorization factor(const MatrixSource<float>& a);
  Factorization factor(const MatrixView<double>& a);
  Factorization factor(const MatrixView<float>& a);
  Factorization factor(const MatrixSource<Complex>& a);
  Factorization factor(const MatrixSource<ComplexFloat>& a);
  Factorization factor(const MatrixView<Complex>& a);
  Factorization factor(const MatrixView<ComplexFloat>& a);
  /// A matrix in a file, real or complex.
  Factorization factor(const std::string& a);

  /// What solve() would need, found in seconds. Reads some elements of A to choose the method. Throws as solve() if the
  /// matrix does not suit the options; FootprintError states the smallest memory limit.
  SolvePlan plan(const MatrixSource<double>& a, std::int64_t right_hand_sides = 1);
  SolvePlan plan(const MatrixSource<float>& a, std::int64_t right_hand_sides = 1);
  SolvePlan plan(const MatrixSource<Complex>& a, std::int64_t right_hand_sides = 1);
  SolvePlan plan(const MatrixSource<ComplexFloat>& a, std::int64_t right_hand_sides = 1);
  SolvePlan plan(const std::string& a, std::int64_t right_hand_sides = 1);
  /// The same for a matrix that exists only as a shape, in a file of that element type. Method::automatic then assumes
  /// that it is symmetric positive definite if it is square.
  SolvePlan plan(std::int64_t rows, std::int64_t columns, ElementType element,
                 std::int64_t right_hand_sides = 1);

  /// Later calls end early with CancelledError once a stop is requested, which any thread may do. The solver can be used
  /// again with another token.
  void stop_by(std::stop_token stop);

  /// Of the last solve or factorization, also if it has thrown after the solution was judged.
  const SolveReport& report() const noexcept;

 private:
  class Implementation;
  std::unique_ptr<Implementation> implementation_;
};

}  // namespace fairlead::linalg
