// The public factorization, of all types of elements.
#include <fairlead/factorization.hpp>

#include <fairlead/error.hpp>
#include <fairlead/solver.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <complex>
#include <cstdint>
#include <type_traits>
#include <utility>

#include "base/scalar.hpp"
#include "solver/cancelled_by.hpp"
#include "solver/kept_factorization.hpp"
#include "solver/load_kernels.hpp"
#include "solver/log_determinant.hpp"
#include "solver/real_parts.hpp"
#include "solver/solver_options.hpp"

namespace fairlead::linalg {

namespace {

/// What is applied to columns: the inverse of A, that of A^T, or L of A = L L^H.
enum class ColumnOperation : std::uint8_t { solve, solve_transposed, multiply_lower };

template <class T>
void require_finite(const std::vector<T>& elements, std::int64_t rows, const char* what) {
  const auto bad = std::ranges::find_if_not(elements, is_finite_number<T>);
  if (bad == elements.end()) return;
  const std::int64_t at = bad - elements.begin();
  throw NumericalError(fmt::format("{}: the element in row {}, column {} (counted from 0) is {}", what,
                                   at % rows, at / rows,
                                   is_not_a_number(*bad) ? "not a number (NaN)" : "infinite"));
}

}  // namespace

class Factorization::Implementation {
 public:
  virtual ~Implementation() = default;
  virtual std::vector<double> apply(std::span<const double> b, std::int64_t columns,
                                    ColumnOperation operation) = 0;
  virtual std::vector<float> apply(std::span<const float> b, std::int64_t columns,
                                   ColumnOperation operation) = 0;
  virtual std::vector<std::complex<double>> apply(std::span<const std::complex<double>> b,
                                                  std::int64_t columns, ColumnOperation operation) = 0;
  virtual std::vector<std::complex<float>> apply(std::span<const std::complex<float>> b, std::int64_t columns,
                                                 ColumnOperation operation) = 0;
  virtual LogDeterminant log_determinant() = 0;
  virtual Inertia inertia() = 0;
  virtual void save(const std::string& path) = 0;
  virtual void stop_by(std::stop_token stop) = 0;
  virtual Bytes bytes_read() const = 0;
  virtual solver::FactorShape shape() const = 0;
  virtual const solver::FactoredMatrix& matrix() const noexcept = 0;
};

}  // namespace fairlead::linalg

namespace fairlead::solver {

struct FactorizationAccess {
  using Implementation = linalg::Factorization::Implementation;
  static linalg::Factorization made(std::unique_ptr<Implementation> implementation) {
    return linalg::Factorization(std::move(implementation));
  }

  template <class T>
  class Kept;
};

template <class T>
class FactorizationAccess::Kept final : public FactorizationAccess::Implementation {
 public:
  Kept(std::unique_ptr<Execution> run, KeptFactors<T> factors, FactoredMatrix matrix,
       std::shared_ptr<const FactorFile> file)
      : file_(std::move(file)),
        run_(std::move(run)),
        factors_(std::move(factors)),
        matrix_(std::move(matrix)) {}

  std::vector<double> apply(std::span<const double> b, std::int64_t columns,
                            linalg::ColumnOperation operation) override {
    return applied(b, columns, operation);
  }
  std::vector<float> apply(std::span<const float> b, std::int64_t columns,
                           linalg::ColumnOperation operation) override {
    return applied(b, columns, operation);
  }
  std::vector<std::complex<double>> apply(std::span<const std::complex<double>> b, std::int64_t columns,
                                          linalg::ColumnOperation operation) override {
    return applied(b, columns, operation);
  }
  std::vector<std::complex<float>> apply(std::span<const std::complex<float>> b, std::int64_t columns,
                                         linalg::ColumnOperation operation) override {
    return applied(b, columns, operation);
  }
  linalg::LogDeterminant log_determinant() override {
    return stoppable([&] { return solver::log_determinant(*run_, factors_); });
  }
  linalg::Inertia inertia() override {
    const auto found = stoppable([&] { return factors_.factors->inertia(run_->flow()); });
    if (found) return *found;
    throw UsageError(
        "the inertia is that of a symmetric or Hermitian matrix, factored by Cholesky or LDL^T: select one "
        "of these "
        "methods");
  }
  void save(const std::string& path) override {
    FactorFileWriter file(path, {.shape = shape(), .matrix = matrix_});
    stoppable([&] { return save_factors(*run_, factors_, file); });
    file.commit();
  }
  void stop_by(std::stop_token stop) override { stop_ = std::move(stop); }
  Bytes bytes_read() const override {
    return run_->runtime().disk_traffic().read + (file_ != nullptr ? file_->bytes_read() : 0);
  }
  FactorShape shape() const override { return factors_.shape(); }
  const FactoredMatrix& matrix() const noexcept override { return matrix_; }

 private:
  /// Returns body(), unless a stop is requested.
  template <class Body>
  auto stoppable(const Body& body) {
    if (std::exchange(flow_is_cancelled_, false)) run_->renew_flow();
    const std::stop_callback on_stop(stop_, [this] {
      flow_is_cancelled_ = true;
      run_->cancel_flow();
    });
    return solver::cancelled_by(stop_, body);
  }

  template <class Element>
  std::vector<Element> applied(std::span<const Element> b, std::int64_t columns,
                               linalg::ColumnOperation operation) {
    if (std::is_same_v<RealOf<T>, float> && std::is_same_v<RealOf<Element>, double>)
      throw UsageError(
          "the factors are in single precision, and b in double: pass b in single precision, or factor a "
          "matrix in double");
    if constexpr (is_complex_number<T> && !is_complex_number<Element>)
      throw UsageError(
          "the factors are complex, and b is real: pass b as complex numbers, since the solution is complex");
    else if constexpr (!is_complex_number<T> && is_complex_number<Element>)
      return solved_by_parts(b, [&](std::span<const RealOf<Element>> parts) {
        return applied_as_given(parts, 2 * columns, operation);
      });
    else
      return applied_as_given(b, columns, operation);
  }

  template <class Element>
  std::vector<Element> applied_as_given(std::span<const Element> b, std::int64_t columns,
                                        linalg::ColumnOperation operation) {
    using enum linalg::ColumnOperation;
    const std::int64_t rows = factors_.a->rows(),
                       unknowns = operation == solve ? factors_.a->columns() : rows;
    const char* const name = operation == multiply_lower ? "z" : "b";
    if (columns < 1) throw UsageError(fmt::format("{} columns of {}: give at least one", columns, name));
    if (std::ssize(b) != rows * columns)
      throw UsageError(fmt::format("{} has {} elements: the matrix has {} rows, so {} columns need {}", name,
                                   b.size(), rows, columns, rows * columns));
    std::vector<T> x(b.begin(), b.end());
    linalg::require_finite(x, rows, name);
    stoppable([&] {
      switch (operation) {
        case solve:
          return solve_columns(*run_, factors_, x.data(), columns, Sides::together);
        case solve_transposed:
          return solve_transposed_columns(*run_, factors_, x.data(), columns, Sides::together);
        case multiply_lower:
          break;
      }
      return multiply_columns_by_lower(*run_, factors_, x.data(), columns, Sides::together);
    });
    // The first elements of each column.
    for (std::int64_t c = 1; c < columns && unknowns != rows; ++c)
      std::copy_n(x.begin() + c * rows, unknowns, x.begin() + c * unknowns);
    x.resize(static_cast<std::size_t>(unknowns * columns));
    linalg::require_finite(x, unknowns, "the result");
    if constexpr (std::is_same_v<Element, T>) {
      return x;
    } else {
      std::vector<Element> rounded(x.size());
      std::ranges::transform(x, rounded.begin(), scalar_cast<Element, T>);
      return rounded;
    }
  }

  std::shared_ptr<const FactorFile> file_;
  std::unique_ptr<Execution> run_;
  KeptFactors<T> factors_;  // destroyed before the run
  FactoredMatrix matrix_;
  std::stop_token stop_;
  bool flow_is_cancelled_ = false;  // by a call that has ended, or whose callback is registered
};

template <class T>
linalg::Factorization make_factorization(std::unique_ptr<Execution> run, KeptFactors<T> factors,
                                         FactoredMatrix matrix) {
  return FactorizationAccess::made(std::make_unique<FactorizationAccess::Kept<T>>(
      std::move(run), std::move(factors), std::move(matrix), nullptr));
}
template linalg::Factorization make_factorization(std::unique_ptr<Execution>, KeptFactors<float>,
                                                  FactoredMatrix);
template linalg::Factorization make_factorization(std::unique_ptr<Execution>, KeptFactors<double>,
                                                  FactoredMatrix);
template linalg::Factorization make_factorization(std::unique_ptr<Execution>,
                                                  KeptFactors<std::complex<float>>, FactoredMatrix);
template linalg::Factorization make_factorization(std::unique_ptr<Execution>,
                                                  KeptFactors<std::complex<double>>, FactoredMatrix);

namespace {

template <class T>
linalg::Factorization load_as(std::shared_ptr<const FactorFile> file, const Config& config) {
  const linalg::Kernels kernels = load_kernels_unchanged(config);
  auto run = std::make_unique<Execution>(config, 0, kernels);
  DenseProblem problem = problem_of(file->shape());
  problem.memory_limit = config.bytes("memory");
  KeptFactors<T> factors = stored_factors<T>(run->runtime(), kernels, problem, file);
  FactoredMatrix matrix = file->header().matrix;
  return FactorizationAccess::made(std::make_unique<FactorizationAccess::Kept<T>>(
      std::move(run), std::move(factors), std::move(matrix), std::move(file)));
}

}  // namespace

}  // namespace fairlead::solver

namespace fairlead::linalg {

Factorization::Factorization(std::unique_ptr<Implementation> implementation) noexcept
    : implementation_(std::move(implementation)) {}
Factorization::Factorization(Factorization&&) noexcept = default;
Factorization& Factorization::operator=(Factorization&&) noexcept = default;
Factorization::~Factorization() = default;

std::vector<double> Factorization::solve(std::span<const double> b, std::int64_t columns) {
  return implementation_->apply(b, columns, ColumnOperation::solve);
}
std::vector<float> Factorization::solve(std::span<const float> b, std::int64_t columns) {
  return implementation_->apply(b, columns, ColumnOperation::solve);
}
std::vector<std::complex<double>> Factorization::solve(std::span<const std::complex<double>> b,
                                                       std::int64_t columns) {
  return implementation_->apply(b, columns, ColumnOperation::solve);
}
std::vector<std::complex<float>> Factorization::solve(std::span<const std::complex<float>> b,
                                                      std::int64_t columns) {
  return implementation_->apply(b, columns, ColumnOperation::solve);
}
std::vector<std::complex<double>> Factorization::solve_transposed(std::span<const std::complex<double>> b,
                                                                  std::int64_t columns) {
  return implementation_->apply(b, columns, ColumnOperation::solve_transposed);
}
std::vector<std::complex<float>> Factorization::solve_transposed(std::span<const std::complex<float>> b,
                                                                 std::int64_t columns) {
  return implementation_->apply(b, columns, ColumnOperation::solve_transposed);
}
std::vector<double> Factorization::solve_transposed(std::span<const double> b, std::int64_t columns) {
  return implementation_->apply(b, columns, ColumnOperation::solve_transposed);
}
std::vector<float> Factorization::solve_transposed(std::span<const float> b, std::int64_t columns) {
  return implementation_->apply(b, columns, ColumnOperation::solve_transposed);
}
std::vector<double> Factorization::multiply_lower(std::span<const double> z, std::int64_t columns) {
  return implementation_->apply(z, columns, ColumnOperation::multiply_lower);
}
std::vector<float> Factorization::multiply_lower(std::span<const float> z, std::int64_t columns) {
  return implementation_->apply(z, columns, ColumnOperation::multiply_lower);
}
std::vector<std::complex<double>> Factorization::multiply_lower(std::span<const std::complex<double>> z,
                                                                std::int64_t columns) {
  return implementation_->apply(z, columns, ColumnOperation::multiply_lower);
}
std::vector<std::complex<float>> Factorization::multiply_lower(std::span<const std::complex<float>> z,
                                                               std::int64_t columns) {
  return implementation_->apply(z, columns, ColumnOperation::multiply_lower);
}
LogDeterminant Factorization::log_determinant() { return implementation_->log_determinant(); }

Inertia Factorization::inertia() { return implementation_->inertia(); }

Method Factorization::method() const noexcept {
  return solver::method_of(*implementation_->shape().operation);
}
std::int64_t Factorization::rows() const noexcept { return implementation_->shape().rows; }
std::int64_t Factorization::columns() const noexcept { return implementation_->shape().columns; }
ElementType Factorization::precision() const noexcept { return implementation_->shape().element; }
std::optional<double> Factorization::condition() const noexcept {
  return implementation_->matrix().condition;
}
std::optional<double> Factorization::growth() const noexcept { return implementation_->matrix().growth; }
std::optional<double> Factorization::backward_error() const noexcept {
  return implementation_->matrix().backward_error;
}
Bytes Factorization::bytes_read() const { return implementation_->bytes_read(); }
void Factorization::save(const std::string& path) { implementation_->save(path); }
void Factorization::stop_by(std::stop_token stop) { implementation_->stop_by(std::move(stop)); }

Factorization load_factorization(const std::string& path, const SolverOptions& options) {
  auto file = std::make_shared<const solver::FactorFile>(path);
  Config config = solver::config_of(options);
  solver::set_scheduler_of_stored_factors(config);
  return with_scalar(file->shape().element, [&]<class T>() { return solver::load_as<T>(file, config); });
}
Factorization load_factorization(const std::string& path) {
  return load_factorization(path, SolverOptions{});
}

}  // namespace fairlead::linalg
