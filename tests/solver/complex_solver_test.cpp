// The public solver with complex matrices, compared with elimination in long double.
#include <fairlead/solver.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <complex>
#include <cstdint>
#include <functional>
#include <limits>
#include <random>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "algorithms/linalg/singular_error.hpp"
#include "data/npy/npy_writer.hpp"
#include "solver/factor_systems.hpp"
#include "temporary_directory.hpp"

namespace fairlead::linalg {
namespace {

using testing::HasSubstr;
using Complex = std::complex<double>;

/// Column-major, in double precision.
struct ComplexSystem {
  std::int64_t n = 0, sides = 1;
  std::vector<Complex> a{}, b{};
  Complex& at(std::int64_t i, std::int64_t j) { return a[static_cast<std::size_t>(i + j * n)]; }
};

ComplexSystem complex_system(std::int64_t n, std::int64_t sides, bool hermitian, unsigned seed = 5) {
  std::mt19937_64 random(seed);
  std::uniform_real_distribution<float> uniform(-1, 1);  // exact in both precisions
  ComplexSystem system{.n = n, .sides = sides};
  for (std::int64_t i = 0; i < n * n; ++i) system.a.emplace_back(uniform(random), uniform(random));
  for (std::int64_t i = 0; i < n * sides; ++i) system.b.emplace_back(uniform(random), uniform(random));
  for (std::int64_t j = 0; hermitian && j < n; ++j) {
    system.at(j, j) = static_cast<double>(2 * n);
    for (std::int64_t i = j + 1; i < n; ++i) system.at(j, i) = std::conj(system.at(i, j));
  }
  return system;
}

enum class MatrixKind { general, hermitian, symmetric };

/// Hermitian, or A = A^T, with positive and negative eigenvalues.
ComplexSystem indefinite_system(std::int64_t n, std::int64_t sides, MatrixKind kind) {
  ComplexSystem system = complex_system(n, sides, true);
  for (std::int64_t j = 0; j < n; ++j) {
    if (j % 2 == 0) system.at(j, j) = -system.at(j, j);
    if (kind == MatrixKind::symmetric) system.at(j, j) *= Complex(0.5, 0.25);
    for (std::int64_t i = 0; i < j && kind == MatrixKind::symmetric; ++i) system.at(i, j) = system.at(j, i);
  }
  return system;
}
/// For the method, and of each kind that it solves.
std::vector<ComplexSystem> systems_for(Method method, std::int64_t n, std::int64_t sides) {
  using enum solver::MatrixKind;
  const solver::MatrixKind kind = tests::matrices_of(method);
  if (kind == symmetric)
    return {indefinite_system(n, sides, MatrixKind::hermitian),
            indefinite_system(n, sides, MatrixKind::symmetric)};
  if (kind != triangular) return {complex_system(n, sides, kind != general)};
  std::vector<ComplexSystem> systems(2, complex_system(n, sides, true));
  for (std::int64_t j = 0; j < n; ++j)
    for (std::int64_t i = 0; i < j; ++i) systems[0].at(i, j) = systems[1].at(j, i) = 0;
  for (ComplexSystem& system : systems)
    for (std::int64_t i = 0; i < n; i += 3) system.at(i, i) *= Complex(0.5, 0.75);
  return systems;
}
/// One of them, well-conditioned.
ComplexSystem plain_system_for(Method method, std::int64_t n, std::int64_t sides) {
  const bool any = method == Method::automatic || tests::matrices_of(method) == solver::MatrixKind::general;
  return any ? complex_system(n, sides, true) : systems_for(method, n, sides).front();
}

enum class Form { plain, transposed };

/// By elimination with partial pivoting. `phase`: of the determinant, if requested.
std::vector<Complex> exact(const ComplexSystem& system, Form form = Form::plain,
                           LogDeterminant* determinant = nullptr) {
  using Wide = std::complex<long double>;
  const std::int64_t n = system.n;
  std::vector<Wide> a(system.a.begin(), system.a.end()), x(system.b.begin(), system.b.end());
  const auto at = [&](std::int64_t i, std::int64_t j) -> Wide& {
    return a[static_cast<std::size_t>(form == Form::plain ? i + j * n : j + i * n)];
  };
  const auto of = [&](std::int64_t i, std::int64_t c) -> Wide& {
    return x[static_cast<std::size_t>(i + c * n)];
  };
  Wide phase = 1;
  long double log_absolute = 0;
  for (std::int64_t k = 0; k < n; ++k) {
    std::int64_t pivot = k;
    for (std::int64_t i = k; i < n; ++i)
      if (std::abs(at(i, k)) > std::abs(at(pivot, k))) pivot = i;
    if (pivot != k) phase = -phase;
    for (std::int64_t j = 0; j < n; ++j) std::swap(at(k, j), at(pivot, j));
    for (std::int64_t c = 0; c < system.sides; ++c) std::swap(of(k, c), of(pivot, c));
    phase *= at(k, k) / std::abs(at(k, k));
    log_absolute += std::log(std::abs(at(k, k)));
    for (std::int64_t i = k + 1; i < n; ++i) {
      const Wide by = at(i, k) / at(k, k);
      for (std::int64_t j = k; j < n; ++j) at(i, j) -= by * at(k, j);
      for (std::int64_t c = 0; c < system.sides; ++c) of(i, c) -= by * of(k, c);
    }
  }
  for (std::int64_t c = 0; c < system.sides; ++c)
    for (std::int64_t i = n - 1; i >= 0; --i) {
      for (std::int64_t j = i + 1; j < n; ++j) of(i, c) -= at(i, j) * of(j, c);
      of(i, c) /= at(i, i);
    }
  if (determinant != nullptr)
    *determinant = {.log_absolute = static_cast<double>(log_absolute), .phase = Complex(phase)};
  return {x.begin(), x.end()};
}

template <class T>
std::vector<T> elements_as(const std::vector<Complex>& elements) {
  return {elements.begin(), elements.end()};
}

template <class T>
double difference(const std::vector<T>& found, const std::vector<Complex>& expected) {
  if (found.size() != expected.size()) return HUGE_VAL;
  double size = 0, off = 0;
  for (std::size_t i = 0; i < found.size(); ++i) {
    size = std::max(size, std::abs(expected[i]));
    const double one = std::abs(Complex(found[i]) - expected[i]);
    off = one <= off ? off : one;
  }
  return off / size;
}

SolverOptions settings_of(Method method, std::int32_t tile = 16) {
  return {.memory = 64_MiB, .method = method, .tile = tile, .workers = 2, .config = Config()};
}

std::string refused(const std::function<void()>& act) {
  try {
    act();
  } catch (const Error& error) {
    return error.what();
  }
  return "not refused";
}

template <class T>
class ComplexSolverOf : public testing::Test {
 protected:
  static std::vector<T> solve(Solver& solver, const ComplexSystem& system) {
    const std::vector<T> a = elements_as<T>(system.a), b = elements_as<T>(system.b);
    return solver.solve(MatrixView<T>{.elements = a.data(), .rows = system.n, .columns = system.n}, b,
                        system.sides);
  }
  static constexpr double close =
      100 * static_cast<double>(std::numeric_limits<typename T::value_type>::epsilon());
};
using ComplexTypes = testing::Types<std::complex<float>, std::complex<double>>;
TYPED_TEST_SUITE(ComplexSolverOf, ComplexTypes);

TYPED_TEST(ComplexSolverOf, SolvesByEachMethodAsEliminationDoes) {
  std::vector<Method> methods = tests::every_method();
  methods.push_back(Method::automatic);
  for (const Method method : methods)
    for (const std::int64_t n : {1, 2, 15, 16, 17, 75})
      for (const std::int64_t sides : {1, 3}) {
        const ComplexSystem system = plain_system_for(method, n, sides);
        Solver solver(settings_of(method));
        const auto x = this->solve(solver, system);
        EXPECT_LT(difference(x, exact(system)), this->close) << name_of(method) << ' ' << n;
        const SolveReport& report = solver.report();
        EXPECT_EQ(report.method, method == Method::automatic ? Method::cholesky : method);
        EXPECT_EQ(report.precision,
                  sizeof(TypeParam) == 8 ? ElementType::complex64 : ElementType::complex128);
        EXPECT_LE(report.backward_error, report.backward_error_limit);
        EXPECT_TRUE(report.condition && report.warnings.empty());
      }
}

TYPED_TEST(ComplexSolverOf, FallsBackToAnotherMethodAndStatesWhy) {
  ComplexSystem indefinite = complex_system(50, 2, true);
  for (std::int64_t i = 0; i < 50; i += 2) indefinite.at(i, i) = -indefinite.at(i, i);
  Solver solver(settings_of(Method::automatic));
  EXPECT_LT(difference(this->solve(solver, indefinite), exact(indefinite)), 100 * this->close);
  EXPECT_EQ(solver.report().method, Method::ldlt);
  EXPECT_THAT(solver.report().method_reason, HasSubstr("the matrix is not positive definite"));
  const ComplexSystem symmetric = indefinite_system(50, 2, MatrixKind::symmetric);
  EXPECT_LT(difference(this->solve(solver, symmetric), exact(symmetric)), 100 * this->close);
  EXPECT_EQ(solver.report().method, Method::ldlt);
  EXPECT_THAT(solver.report().method_reason, HasSubstr("is not Hermitian"));
  const ComplexSystem general = complex_system(50, 2, false);
  EXPECT_LT(difference(this->solve(solver, general), exact(general)), 1000 * this->close);
  EXPECT_EQ(solver.report().method, Method::lu);
  EXPECT_THAT(solver.report().method_reason, HasSubstr("is not Hermitian"));
}

TYPED_TEST(ComplexSolverOf, KeepsFactors) {
  using T = TypeParam;
  const tests::TemporaryDirectory directory;
  const std::string path = (directory.path() / "A.factor").string();
  std::vector<std::pair<Method, ComplexSystem>> cases;
  for (const Method method : tests::every_method())
    for (ComplexSystem& system : systems_for(method, 70, 3)) cases.emplace_back(method, std::move(system));
  for (const auto& [method, system] : cases) {
    const std::vector<T> a = elements_as<T>(system.a), b = elements_as<T>(system.b);
    Solver solver(settings_of(method));
    Factorization made = solver.factor(MatrixView<T>{.elements = a.data(), .rows = 70, .columns = 70});
    made.save(path);
    Factorization loaded = load_factorization(path, settings_of(method));
    LogDeterminant expected;
    const std::vector<Complex> plain = exact(system, Form::plain, &expected),
                               transposed = exact(system, Form::transposed);
    const solver::MatrixKind kind = tests::matrices_of(method);
    const bool pivots = kind == solver::MatrixKind::general || kind == solver::MatrixKind::symmetric;
    const double close = pivots ? 300 * this->close : this->close;
    for (Factorization* f : {&made, &loaded}) {
      EXPECT_EQ(f->precision(), sizeof(T) == 8 ? ElementType::complex64 : ElementType::complex128);
      EXPECT_LT(difference(f->solve(std::span<const T>(b), 3), plain), close) << name_of(method);
      EXPECT_LT(difference(f->solve_transposed(std::span<const T>(b), 3), transposed), close)
          << name_of(method);
      const LogDeterminant found = f->log_determinant();
      EXPECT_NEAR(found.log_absolute, expected.log_absolute, 70 * close);
      EXPECT_LT(std::abs(found.phase - expected.phase), 70 * close);
      EXPECT_NEAR(std::abs(found.phase), 1, 1e-15);
      EXPECT_EQ(found.sign, 1);
    }
    const std::vector<typename T::value_type> real(70, 1);
    EXPECT_THAT(refused([&] { made.solve(std::span<const typename T::value_type>(real)); }),
                HasSubstr("the factors are complex, and b is real"));
  }
}

TEST(ComplexSolver, RealFactorsSolveComplexRightHandSides) {
  const ComplexSystem complex = complex_system(40, 2, true);
  ComplexSystem system = complex;
  std::vector<double> a;
  for (Complex& element : system.a) a.push_back((element = element.real()).real());
  Solver solver(settings_of(Method::automatic));
  Factorization f = solver.factor(MatrixView<double>{.elements = a.data(), .rows = 40, .columns = 40});
  EXPECT_LT(difference(f.solve(std::span<const Complex>(system.b), 2), exact(system)), 1e-13);
  EXPECT_EQ(f.log_determinant().phase, 1.0);
}

// By any method: only real systems are solved.
TYPED_TEST(ComplexSolverOf, RealMatricesSolveComplexRightHandSides) {
  ComplexSystem system = complex_system(50, 2, true);
  std::vector<double> a;
  for (Complex& element : system.a) a.push_back((element = element.real()).real());
  const std::vector<TypeParam> b = elements_as<TypeParam>(system.b);
  const auto source = matrix_in_memory(a.data(), 50, 50);
  for (const Method method : {Method::cholesky, Method::ldlt, Method::lu, Method::qr, Method::automatic}) {
    Solver solver(settings_of(method));
    EXPECT_LT(difference(solver.solve(*source, std::span<const TypeParam>(b), 2), exact(system)),
              this->close);
    EXPECT_EQ(solver.report().right_hand_sides, 2);
    EXPECT_EQ(solver.report().precision, ElementType::complex128);
  }
  Solver solver(settings_of(Method::automatic));
  EXPECT_THAT(
      refused([&] { solver.solve(*source, std::span<const TypeParam>(b), 3); }),
      HasSubstr("b has 100 elements: the matrix has 50 rows, so with 3 right-hand sides it needs 150"));
}

TEST(ComplexSolver, RoundsTheSolutionOfAMatrixInDoublePrecision) {
  const ComplexSystem system = complex_system(40, 2, true);
  const auto b = elements_as<std::complex<float>>(system.b);
  Solver solver(settings_of(Method::automatic));
  const auto x =
      solver.solve(*matrix_in_memory(system.a.data(), 40, 40), std::span<const std::complex<float>>(b), 2);
  EXPECT_LT(difference(x, exact(system)), 1e-7);
  EXPECT_EQ(solver.report().precision, ElementType::complex128);
}

TEST(ComplexSolver, ASingularMatrixIsASingularError) {
  const std::vector<Complex> a(30 * 30, Complex(1, 1)), b(30, 1);
  Solver solver(settings_of(Method::lu));
  EXPECT_THROW(solver.solve(MatrixView<Complex>{.elements = a.data(), .rows = 30, .columns = 30}, b),
               SingularError);
}

TEST(ComplexSolver, ReadsFilesAndFunctions) {
  const tests::TemporaryDirectory directory;
  const std::string path = (directory.path() / "A.npy").string();
  ComplexSystem system = complex_system(60, 1, true);
  {
    data::NpyWriter writer(path, ElementType::complex128, StorageOrder::c, {60, 60});
    writer.write_block<Complex>(0, 60, 0, 60, system.a.data(), 60);
    writer.commit();
  }
  Solver solver(settings_of(Method::automatic));
  EXPECT_LT(difference(solver.solve(path, system.b), exact(system)), 1e-13);
  EXPECT_LT(difference(solver.factor(path).solve(std::span<const Complex>(system.b)), exact(system)), 1e-13);
  const auto function =
      matrix_from<Complex>(60, 60, [&](std::int64_t i, std::int64_t j) { return system.at(i, j); });
  EXPECT_LT(difference(solver.solve(*function, system.b), exact(system)), 1e-13);
  EXPECT_LT(difference(solver.solve(*open_complex_matrix(path), system.b), exact(system)), 1e-13);
  const std::vector<double> real(60, 1);
  EXPECT_THAT(refused([&] { solver.solve(path, real); }),
              HasSubstr("holds complex numbers: open it by open_complex_matrix()"));
}

TEST(ComplexSolver, RefusesWhatIsForRealMatrices) {
  const ComplexSystem system = complex_system(20, 1, true);
  const MatrixView<Complex> a{.elements = system.a.data(), .rows = 20, .columns = 20};
  ComplexSystem general = complex_system(20, 1, false);
  const MatrixView<Complex> b{.elements = general.a.data(), .rows = 20, .columns = 20};
  for (const Method method : {Method::cholesky, Method::ldlt})
    EXPECT_THAT(refused([&] { Solver(settings_of(method)).solve(b, system.b); }),
                HasSubstr("is not Hermitian"));
  // One triangle is that of a Hermitian matrix.
  general.at(7, 7) = Complex(1, 2);
  SolverOptions lower = settings_of(Method::ldlt);
  lower.stored = Stored::lower;
  EXPECT_THAT(refused([&] { Solver(lower).solve(b, system.b); }), HasSubstr("which is not real"));
  EXPECT_EQ(refused([&] { Solver(settings_of(Method::ldlt)).solve(a, system.b); }), "not refused");
}

TEST(ComplexSolver, RefinesToDoublePrecision) {
  const ComplexSystem system = complex_system(150, 3, true);
  SolverOptions options = settings_of(Method::automatic, 32);
  options.refine = true;
  Solver solver(options);
  const auto x = solver.solve(MatrixView<Complex>{.elements = system.a.data(), .rows = 150, .columns = 150},
                              system.b, 3);
  EXPECT_LT(difference(x, exact(system)), 1e-15);
  EXPECT_GE(solver.report().refinement_steps, 2);
}

TEST(ComplexSolver, SolvesLeastSquares) {
  // x minimizes || b - A x || if A^H (b - A x) = 0.
  const ComplexSystem system = complex_system(90, 2, false);
  Solver solver(settings_of(Method::automatic));
  const auto x =
      solver.solve(MatrixView<Complex>{.elements = system.a.data(), .rows = 90, .columns = 40}, system.b, 2);
  ASSERT_EQ(std::ssize(x), 80);
  EXPECT_EQ(solver.report().method, Method::qr);
  EXPECT_EQ(solver.report().rank, 40);
  const auto at = [](std::int64_t i, std::int64_t j) { return static_cast<std::size_t>(i + j * 90); };
  for (std::int64_t c = 0; c < 2; ++c) {
    std::vector<Complex> r(90);
    for (std::int64_t i = 0; i < 90; ++i) {
      r[at(i, 0)] = system.b[at(i, c)];
      for (std::int64_t j = 0; j < 40; ++j)
        r[at(i, 0)] -= system.a[at(i, j)] * x[static_cast<std::size_t>(j + 40 * c)];
    }
    for (std::int64_t j = 0; j < 40; ++j) {
      Complex normal = 0;
      for (std::int64_t i = 0; i < 90; ++i) normal += std::conj(system.a[at(i, j)]) * r[at(i, 0)];
      EXPECT_LT(std::abs(normal), 1e-12);
    }
  }
}

TEST(ComplexSolver, SolvesOutOfCore) {
  const ComplexSystem system = complex_system(250, 2, true);
  const std::vector<Complex> expected = exact(system);
  for (const Method method : {Method::cholesky, Method::lu}) {
    SolverOptions options = settings_of(method, 16);
    options.condition = false;
    const SolvePlan in_core = Solver(options).plan(250, 250, ElementType::complex128, 2);
    options.memory = in_core.least_memory + (in_core.in_core_memory - in_core.least_memory) / 4;
    Solver solver(options);
    const auto x = solver.solve(MatrixView<Complex>{.elements = system.a.data(), .rows = 250, .columns = 250},
                                system.b, 2);
    EXPECT_LT(difference(x, expected), 1e-13);
    EXPECT_GT(solver.report().bytes_written, 0u);
  }
}

}  // namespace
}  // namespace fairlead::linalg
