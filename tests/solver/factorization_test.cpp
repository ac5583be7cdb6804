// Kept factors: solves, determinants, and files with factors, for every method, against plain computations.
#include <fairlead/solver.hpp>

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <vector>

#include "sanitized.hpp"
#include "solver/factor_systems.hpp"
#include "temporary_directory.hpp"

namespace fairlead::linalg {
namespace {

using tests::backward_error_of;
using tests::DenseSystem;
using tests::every_method;
using tests::exact_determinant;
using tests::exact_solution;
using tests::factor_options;
using tests::is_symmetric;
using tests::load_options;
using tests::plain_system_for;
using tests::random_system;
using tests::relative_difference;
using tests::system_for;
using tests::TemporaryDirectory;
using tests::transposed;
using tests::view_of;

template <class T>
std::span<const T> right_sides(const DenseSystem<T>& system) {
  return system.b;
}

template <class T>
class FactorizationOf : public testing::Test {};
using FactorPrecisions = testing::Types<float, double>;
TYPED_TEST_SUITE(FactorizationOf, FactorPrecisions);

TYPED_TEST(FactorizationOf, SolvesAsOftenAsWanted) {
  using T = TypeParam;
  const double tolerance = 200 * static_cast<double>(std::numeric_limits<T>::epsilon());
  for (const Method method : every_method())
    for (const std::int64_t n : {1, 15, 16, 17, 50}) {
      const DenseSystem<T> system = system_for<T>(method, n, 3, 7);
      Solver solver(factor_options(method));
      Factorization factors = solver.factor(view_of(system));
      const std::string what = std::string(name_of(method)) + ", n = " + std::to_string(n);
      EXPECT_EQ(factors.method(), method) << what;
      EXPECT_EQ(factors.rows(), n) << what;
      EXPECT_TRUE(factors.condition()) << what;
      for (int time = 0; time < 2; ++time) {
        EXPECT_LT(relative_difference(factors.solve(right_sides(system), 3), exact_solution(system)),
                  tolerance)
            << what;
        EXPECT_LT(relative_difference(factors.solve_transposed(right_sides(system), 3),
                                      exact_solution(transposed(system))),
                  tolerance)
            << what;
      }
    }
}

TYPED_TEST(FactorizationOf, FindsTheDeterminantAndItsSign) {
  using T = TypeParam;
  for (const Method method : every_method())
    for (const std::int64_t n : {1, 2, 16, 33, 40})
      for (const unsigned seed : {1u, 2u, 3u}) {
        DenseSystem<T> system = system_for<T>(method, n, 1, seed);
        if (!is_symmetric(method) && seed == 2)  // a negative column
          for (std::int64_t i = 0; i < n; ++i) system.at(i, 0) = -system.at(i, 0);
        Solver solver(factor_options(method));
        const LogDeterminant found = solver.factor(view_of(system)).log_determinant(),
                             exact = exact_determinant(system);
        const std::string what = std::string(name_of(method)) + ", n = " + std::to_string(n);
        EXPECT_EQ(found.sign, exact.sign) << what;
        EXPECT_NEAR(found.log_absolute, exact.log_absolute,
                    static_cast<double>(n) * 20 * static_cast<double>(std::numeric_limits<T>::epsilon()) *
                        std::max(1.0, std::abs(exact.log_absolute)))
            << what;
      }
}

// Gershgorin's circles lie on either side of zero.
TYPED_TEST(FactorizationOf, FindTheInertia) {
  using T = TypeParam;
  const TemporaryDirectory directory;
  const std::string path = directory.path() / "A.factor";
  for (const std::int64_t n : {1, 2, 16, 33, 61})
    for (const std::int64_t negative : {std::int64_t{0}, n / 3, n}) {
      DenseSystem<T> system = system_for<T>(Method::cholesky, n, 1, 7);
      for (std::int64_t i = 0; i < n; ++i)
        for (std::int64_t j = 0; j < n; ++j)
          system.at(i, j) = static_cast<T>(i != j                 ? std::cos(static_cast<double>(i * j))
                                           : i * 3 % n < negative ? -1.5 * static_cast<double>(n)
                                                                  : 1.5 * static_cast<double>(n));
      std::int64_t found_negative = 0;
      for (std::int64_t i = 0; i < n; ++i) found_negative += system.at(i, i) < 0 ? 1 : 0;
      Solver solver(factor_options(Method::ldlt));
      Factorization made = solver.factor(view_of(system));
      const Inertia expected{.positive = n - found_negative, .negative = found_negative, .zero = 0};
      EXPECT_EQ(made.inertia(), expected) << n;
      made.save(path);
      EXPECT_EQ(load_factorization(path, load_options()).inertia(), expected) << n;
    }
  Solver cholesky(factor_options(Method::cholesky)), lu(factor_options(Method::lu));
  const DenseSystem<T> definite = system_for<T>(Method::cholesky, 33, 1, 7);
  EXPECT_EQ(cholesky.factor(view_of(definite)).inertia(), Inertia{.positive = 33});
  Factorization general = lu.factor(view_of(definite));
  EXPECT_THROW(general.inertia(), UsageError);
}

TYPED_TEST(FactorizationOf, AreTheSameBitsFromAFile) {
  using T = TypeParam;
  const TemporaryDirectory directory;
  const std::string path = directory.path() / "A.factor";
  for (const Method method : every_method())
    for (const std::int64_t n : {1, 16, 47}) {
      const DenseSystem<T> system = system_for<T>(method, n, 20, 9);
      Solver solver(factor_options(method));
      Factorization made = solver.factor(view_of(system));
      made.save(path);
      Factorization loaded = load_factorization(path, load_options());
      const std::string what = std::string(name_of(method)) + ", n = " + std::to_string(n);
      EXPECT_EQ(loaded.method(), method) << what;
      EXPECT_EQ(loaded.precision(), made.precision()) << what;
      EXPECT_EQ(loaded.condition(), made.condition()) << what;
      EXPECT_EQ(loaded.growth(), made.growth()) << what;
      EXPECT_EQ(loaded.solve(right_sides(system), 20), made.solve(right_sides(system), 20)) << what;
      EXPECT_EQ(loaded.solve_transposed(right_sides(system), 20),
                made.solve_transposed(right_sides(system), 20))
          << what;
      EXPECT_EQ(loaded.log_determinant().log_absolute, made.log_determinant().log_absolute) << what;
      EXPECT_EQ(loaded.log_determinant().sign, made.log_determinant().sign) << what;
      // Saved again from the file, to another one.
      loaded.save(path + "2");
      EXPECT_EQ(load_factorization(path + "2", load_options()).solve(right_sides(system), 20),
                made.solve(right_sides(system), 20))
          << what;
    }
}

TYPED_TEST(FactorizationOf, ServeWithLessMemoryThanTheyNeed) {
  using T = TypeParam;
  const TemporaryDirectory directory;
  const std::string path = directory.path() / "A.factor";
  const std::int64_t n = std::is_same_v<T, float> ? 1200 : 900;  // 5.8 and 6.5 MB
  for (const Method method : every_method()) {
    if (tests::sanitized && method != Method::lu) continue;  // n^3 operations of unoptimized code
    const DenseSystem<T> system =
        is_symmetric(method) ? system_for<T>(method, n, 2, 4) : plain_system_for<T>(method, n, 2, 4);
    SolverOptions options = factor_options(method, 5_MiB, 48);
    options.workers = 1;
    Solver solver(options);
    Factorization made = solver.factor(view_of(system));
    EXPECT_GT(solver.report().bytes_written, 0u) << name_of(method);
    const std::vector<T> x = made.solve(right_sides(system), 2);
    EXPECT_LT(backward_error_of(system, x),
              static_cast<double>(n) * static_cast<double>(std::numeric_limits<T>::epsilon()))
        << name_of(method);
    made.save(path);
    Factorization loaded = load_factorization(path, load_options(2_MiB));
    EXPECT_EQ(loaded.solve(right_sides(system), 2), x) << name_of(method);
    EXPECT_EQ(loaded.solve_transposed(right_sides(system), 2), made.solve_transposed(right_sides(system), 2))
        << name_of(method);
  }
}

// Each direction reads the factors once, however many right-hand sides there are.
TEST(Factorization, ReadsTheFileOnceForManyRightHandSides) {
  const TemporaryDirectory directory;
  const std::string path = directory.path() / "A.factor";
  const std::int64_t n = 900, sides = 300;
  const DenseSystem<double> system = system_for<double>(Method::cholesky, n, sides, 4);
  Solver solver(factor_options(Method::cholesky, 64_MiB, 48));
  Factorization made = solver.factor(view_of(system));
  made.save(path);
  Factorization loaded = load_factorization(path, load_options(1_MiB));
  const Bytes before = loaded.bytes_read();
  EXPECT_EQ(loaded.solve(right_sides(system), sides), made.solve(right_sides(system), sides));
  const auto size = static_cast<double>(n * (n + 48) / 2 * 8);
  EXPECT_LT(static_cast<double>(loaded.bytes_read() - before), 2.5 * size);
}

TEST(Factorization, SolvesLeastSquares) {
  const TemporaryDirectory directory;
  const std::string path = directory.path() / "A.factor";
  for (const auto& [m, n] : {std::pair(40, 17), {100, 3}, {17, 16}, {200, 1}}) {
    const DenseSystem<double> system = random_system<double>(m, n, 2, 5);
    Solver solver(factor_options(Method::automatic));
    Factorization made = solver.factor(view_of(system));
    EXPECT_EQ(made.method(), Method::qr);
    const std::vector<double> x = made.solve(right_sides(system), 2);
    EXPECT_LT(relative_difference(x, exact_solution(system)), 1e-11) << m << ", " << n;
    made.save(path);
    EXPECT_EQ(load_factorization(path, load_options()).solve(right_sides(system), 2), x) << m << ", " << n;
    EXPECT_THROW(made.log_determinant(), UsageError);
    EXPECT_THROW(made.solve_transposed(right_sides(system), 2), UsageError);
  }
}

TEST(Factorization, ChoosesTheMethod) {
  Solver solver(factor_options(Method::automatic));
  const DenseSystem<double> positive = system_for<double>(Method::cholesky, 30, 1, 1),
                            indefinite = system_for<double>(Method::ldlt, 30, 1, 1),
                            general = system_for<double>(Method::lu, 30, 1, 1);
  EXPECT_EQ(solver.factor(view_of(positive)).method(), Method::cholesky);
  EXPECT_EQ(solver.report().method, Method::cholesky);
  EXPECT_EQ(solver.factor(view_of(indefinite)).method(), Method::ldlt);
  EXPECT_EQ(solver.factor(view_of(general)).method(), Method::lu);
  EXPECT_NE(solver.report().method_reason, "");
}

TEST(Factorization, RefusesWhatDoesNotMatch) {
  const DenseSystem<float> single = system_for<float>(Method::lu_nopivot, 20, 1, 1);
  const DenseSystem<double> system = system_for<double>(Method::lu_nopivot, 20, 1, 1);
  Solver solver(factor_options(Method::lu_nopivot));
  Factorization in_single = solver.factor(view_of(single)), in_double = solver.factor(view_of(system));
  EXPECT_THROW(in_single.solve(right_sides(system)), UsageError);
  EXPECT_LT(relative_difference(in_double.solve(right_sides(single)), exact_solution(single)), 1e-6);
  EXPECT_THROW(in_double.solve(right_sides(system), 2), UsageError);
  EXPECT_THROW(in_double.solve(right_sides(system), 0), UsageError);
  std::vector<double> with_nan = system.b;
  with_nan[3] = std::numeric_limits<double>::quiet_NaN();
  EXPECT_THROW(in_double.solve(with_nan), NumericalError);
  EXPECT_EQ(in_double.solve(right_sides(system)).size(), 20u);  // still of use
}

TEST(Factorization, OfASingularMatrixIsAnError) {
  const DenseSystem<double> zero{3, 3, 1, std::vector<double>(9), std::vector<double>(3, 1.0)};
  for (const Method method : every_method()) {
    Solver solver(factor_options(method));
    EXPECT_THROW(solver.factor(view_of(zero)), NumericalError) << name_of(method);
  }
}

}  // namespace
}  // namespace fairlead::linalg
