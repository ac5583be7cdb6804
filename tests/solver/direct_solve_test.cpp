// Small systems, which the solver factors without a runtime, against the same systems by tasks: values, reports and errors.
#include <fairlead/error.hpp>
#include <fairlead/solver.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <complex>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <random>
#include <string>
#include <type_traits>
#include <vector>

#include "base/scalar.hpp"

namespace fairlead::linalg {
namespace {

/// Column-major, whichever order the view of it has.
template <class T>
struct SmallSystem {
  std::int64_t n, sides;
  std::vector<T> a, b;
  T& at(std::int64_t i, std::int64_t j) { return a[static_cast<std::size_t>(i + j * n)]; }
};

enum class Kind : std::uint8_t {
  definite,      // Cholesky
  general,       // LU
  indefinite,    // symmetric: LDL^T, or LU if it is complex
  rounded,       // definite, with triangles that differ in the last bit
  singular,      // a zero column
  not_a_number,  // in one element
  ill_posed,     // a Hilbert matrix
  negative,      // definite, but for its sign
};
constexpr Kind kinds[] = {Kind::definite, Kind::general,      Kind::indefinite, Kind::rounded,
                          Kind::singular, Kind::not_a_number, Kind::ill_posed,  Kind::negative};

template <class T>
T random_number(std::mt19937_64& random) {
  std::uniform_real_distribution<RealOf<T>> uniform(-1, 1);
  if constexpr (is_complex_number<T>)
    return {uniform(random), uniform(random)};
  else
    return uniform(random);
}

template <class T>
SmallSystem<T> system_of(Kind kind, std::int64_t n, std::int64_t sides) {
  std::mt19937_64 random(static_cast<std::uint64_t>(n * 31 + sides));
  SmallSystem<T> system{n, sides, {}, {}};
  for (std::int64_t i = 0; i < n * n; ++i) system.a.push_back(random_number<T>(random));
  for (std::int64_t i = 0; i < n * sides; ++i) system.b.push_back(random_number<T>(random));
  if (kind != Kind::general && kind != Kind::singular)
    for (std::int64_t j = 0; j < n; ++j) {
      system.at(j, j) = real_part(system.at(j, j));
      for (std::int64_t i = 0; i < j; ++i) system.at(j, i) = conjugate(system.at(i, j));
    }
  const bool dominant = kind == Kind::definite || kind == Kind::rounded || kind == Kind::not_a_number;
  for (std::int64_t i = 0; i < n; ++i) {
    if (dominant) system.at(i, i) = static_cast<RealOf<T>>(2 * n);
    if (kind == Kind::negative) system.at(i, i) = static_cast<RealOf<T>>(-2 * n);
    if (kind == Kind::singular) system.at(i, n / 2) = 0;
  }
  if (kind == Kind::rounded && n > 1) system.at(1, 0) *= 1 + std::numeric_limits<RealOf<T>>::epsilon();
  if (kind == Kind::not_a_number) system.at(n - 1, n / 2) = std::numeric_limits<RealOf<T>>::quiet_NaN();
  if (kind == Kind::ill_posed)
    for (std::int64_t j = 0; j < n; ++j)
      for (std::int64_t i = 0; i < n; ++i) system.at(i, j) = 1 / static_cast<RealOf<T>>(i + j + 1);
  return system;
}

/// What a program sees of a solve.
template <class T>
struct Seen {
  std::vector<T> x;
  std::string error;
  SolveReport report;
};

template <class T>
Seen<T> seen(SolverOptions options, const SmallSystem<T>& system, StorageOrder order) {
  options.config.set("cache-directory", "none");
  Solver solver(std::move(options));
  std::vector<T> stored = system.a;
  if (order == StorageOrder::c)
    for (std::int64_t j = 0; j < system.n; ++j)
      for (std::int64_t i = 0; i < system.n; ++i)
        stored[static_cast<std::size_t>(i * system.n + j)] =
            system.a[static_cast<std::size_t>(i + j * system.n)];
  const MatrixView<T> view{.elements = stored.data(), .rows = system.n, .columns = system.n, .order = order};
  Seen<T> seen;
  try {
    seen.x = solver.solve(view, system.b, system.sides);
  } catch (const Error& error) {
    seen.error = error.what();
  }
  seen.report = solver.report();
  return seen;
}

/// The largest difference of two solutions, relative to the largest element of their column.
template <class T>
double difference(const std::vector<T>& x, const std::vector<T>& y, std::int64_t n) {
  double worst = 0;
  for (std::size_t begin = 0; begin < x.size(); begin += static_cast<std::size_t>(n)) {
    double off = 0, size = 0;
    for (std::size_t i = begin; i < begin + static_cast<std::size_t>(n); ++i) {
      off = std::max(off, magnitude(x[i] - y[i]));
      size = std::max(size, magnitude(y[i]));
    }
    worst = std::max(worst, size > 0 ? off / size : off);
  }
  return worst;
}

/// The backward error by sums in long double.
template <class T>
double error_of(const SmallSystem<T>& system, const std::vector<T>& x) {
  using Long = std::complex<long double>;
  const auto wide = [](T number) {
    return Long(scalar_cast<std::complex<double>>(std::complex<RealOf<T>>(number)));
  };
  double worst = 0;
  for (std::int64_t c = 0; c < system.sides; ++c) {
    long double norm = 0, residual = 0, size = 0, side = 0;
    for (std::int64_t i = 0; i < system.n; ++i) {
      Long sum = wide(system.b[static_cast<std::size_t>(i + c * system.n)]);
      side = std::max(side, std::abs(sum));
      size = std::max(size, std::abs(wide(x[static_cast<std::size_t>(i + c * system.n)])));
      long double row = 0;
      for (std::int64_t j = 0; j < system.n; ++j) {
        const Long element = wide(system.a[static_cast<std::size_t>(i + j * system.n)]);
        sum -= element * wide(x[static_cast<std::size_t>(j + c * system.n)]);
        row += std::abs(element);
      }
      norm = std::max(norm, row);
      residual = std::max(residual, std::abs(sum));
    }
    worst = std::max(worst, static_cast<double>(residual / (norm * size + side)));
  }
  return worst;
}

/// Several tasks look for an element that is not positive: any of those is reported.
std::string without_place(std::string reason) {
  const auto place = reason.find("in row and column ");
  if (place != reason.npos) reason.erase(place, reason.find(" is ", place) - place);
  return reason;
}

template <class T>
class DirectSolveOf : public testing::Test {};
using AllScalars = testing::Types<float, double, std::complex<float>, std::complex<double>>;
TYPED_TEST_SUITE(DirectSolveOf, AllScalars);

TYPED_TEST(DirectSolveOf, IsAsASolveByTasks) {
  using T = TypeParam;
  constexpr double epsilon = epsilon_of_scalar<T>;
  int direct_solves = 0, errors = 0;
  for (const Kind kind : kinds)
    for (const std::int64_t n : {1, 2, 40, 171})
      for (const std::int64_t sides : {1, 3})
        for (const StorageOrder order : {StorageOrder::fortran, StorageOrder::c})
          for (const Method method : {Method::automatic, Method::cholesky, Method::ldlt, Method::lu}) {
            if (kind == Kind::ill_posed && n > 40) continue;
            const bool is_plain = kind == Kind::definite || kind == Kind::general;
            // Tasks take most of the time.
            if (n > 40 && (!is_plain || (sides == 1) != (order == StorageOrder::c))) continue;
            if (!is_plain && (sides == 1) != (n == 1) && order == StorageOrder::c) continue;
            const SmallSystem<T> system = system_of<T>(kind, n, sides);
            const auto at_once = seen<T>({.method = method, .workers = 2}, system, order);
            const auto by_tasks =
                seen<T>({.memory = 64_MiB, .method = method, .tile = 64, .workers = 1}, system, order);
            SCOPED_TRACE("kind " + std::to_string(static_cast<int>(kind)) + ", n " + std::to_string(n) +
                         ", sides " + std::to_string(sides) + ", " + std::string(name_of(method)) +
                         ", order " + std::to_string(static_cast<int>(order)));
            EXPECT_EQ(at_once.error, by_tasks.error);
            if (!at_once.error.empty()) {
              ++errors;
              continue;
            }
            EXPECT_EQ(at_once.report.method, by_tasks.report.method);
            EXPECT_EQ(without_place(at_once.report.method_reason),
                      without_place(by_tasks.report.method_reason));
            EXPECT_EQ(at_once.report.warnings.size(), by_tasks.report.warnings.size());
            ASSERT_EQ(at_once.x.size(), by_tasks.x.size());
            EXPECT_LE(error_of(system, at_once.x), 10 * std::sqrt(static_cast<double>(n)) * epsilon);
            EXPECT_LE(at_once.report.backward_error, at_once.report.backward_error_limit);
            EXPECT_EQ(at_once.report.backward_error_limit, by_tasks.report.backward_error_limit);
            ASSERT_TRUE(at_once.report.condition.has_value());
            EXPECT_LE(difference(at_once.x, by_tasks.x, n),
                      20 * epsilon * std::max(1.0, *at_once.report.condition));
            if (kind != Kind::ill_posed) {
              EXPECT_LE(std::abs(std::log10(*at_once.report.condition / *by_tasks.report.condition)), 0.1);
              EXPECT_LE(std::abs(*at_once.report.digits - *by_tasks.report.digits), 1);
            }
            EXPECT_EQ(at_once.report.growth.has_value(), by_tasks.report.growth.has_value());
            if (at_once.report.growth && at_once.report.method == Method::ldlt) {
              EXPECT_LE(*at_once.report.growth, 20);  // by other pivots
            }
            if (at_once.report.growth && at_once.report.method == Method::lu) {
              EXPECT_NEAR(*at_once.report.growth, *by_tasks.report.growth,
                          1e4 * epsilon * *by_tasks.report.growth);
            }
            direct_solves += n != 64 && at_once.report.tile == n ? 1 : 0;
            if (is_plain) {
              EXPECT_EQ(at_once.report.tile, n);
            }
          }
  EXPECT_GT(direct_solves, 100);
  EXPECT_GT(errors, 20);
}

// What a small system may not skip: settings and limits of the program.
TEST(DirectSolve, IsNotUsedIfTasksMatter) {
  const SmallSystem<double> system = system_of<double>(Kind::definite, 50, 1);
  const auto tile_of = [&](SolverOptions options) {
    return seen(std::move(options), system, StorageOrder::fortran).report.tile;
  };
  EXPECT_EQ(tile_of({}), 50);
  EXPECT_EQ(tile_of({.tile = 16}), 16);
  Config config;
  config.set("scheduler", "eager");
  config.set("tile", 25);
  EXPECT_EQ(tile_of({.config = config}), 25);
  Config only_tile;
  only_tile.set("tile", 25);
  EXPECT_EQ(tile_of({.config = only_tile}), 25);
  const auto phases = seen({.memory = 8_MiB}, system, StorageOrder::fortran).report.phases;
  EXPECT_EQ(std::ranges::count(phases, "diagonal", &SolvePhase::name), 1);  // by tasks
}

TEST(DirectSolve, ReportsPhasesAndTime) {
  const SmallSystem<double> system = system_of<double>(Kind::general, 120, 2);
  const SolveReport report = seen({.method = Method::lu}, system, StorageOrder::fortran).report;
  double seconds = 0;
  std::vector<std::string> names;
  for (const SolvePhase& phase : report.phases) {
    names.push_back(phase.name);
    if (phase.counts) seconds += phase.seconds;
  }
  EXPECT_EQ(names, (std::vector<std::string>{"reading", "factorization", "solve", "growth", "error check",
                                             "condition estimate"}));
  EXPECT_DOUBLE_EQ(report.seconds, seconds);
  EXPECT_EQ(report.bytes_read + report.bytes_written, 0u);
}

TEST(DirectSolve, IsCancelledLikeOthers) {
  const SmallSystem<double> system = system_of<double>(Kind::definite, 50, 1);
  Solver solver;
  std::stop_source stop;
  solver.stop_by(stop.get_token());
  stop.request_stop();
  EXPECT_THROW(solver.solve(MatrixView<double>{system.a.data(), 50, 50}, system.b), CancelledError);
  solver.stop_by({});
  EXPECT_EQ(solver.solve(MatrixView<double>{system.a.data(), 50, 50}, system.b).size(), 50u);
}

}  // namespace
}  // namespace fairlead::linalg
