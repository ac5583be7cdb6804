// A stop that any thread requests ends solves and factorizations early; solver and factors stay usable.
#include <fairlead/solver.hpp>

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cmath>
#include <stop_token>
#include <thread>
#include <vector>

namespace fairlead::linalg {
namespace {

constexpr std::int64_t rows = 400;
constexpr std::int64_t tile = 20;

/// Requests a stop when the given element is read for the first time.
struct StoppingMatrix {
  double operator()(std::int64_t i, std::int64_t j) const {
    if (i == stops_at && j == 0) source.request_stop();
    return i == j ? 4.0 : std::exp(-std::abs(static_cast<double>(i - j)));
  }
  std::int64_t stops_at;
  mutable std::stop_source source;
};

SolverOptions small_options() { return {.memory = 64 << 20, .tile = tile, .workers = 2}; }

TEST(StoppedCalls, ASolveEndsAndTheSolverIsUsedAgain) {
  const StoppingMatrix stopping{.stops_at = rows / 2, .source = {}};
  const auto a =
      matrix_from(rows, rows, [&stopping](std::int64_t i, std::int64_t j) { return stopping(i, j); });
  const std::vector<double> b(rows, 1.0);
  Solver solver(small_options());
  solver.stop_by(stopping.source.get_token());
  EXPECT_THROW(solver.solve(*a, b), CancelledError);
  EXPECT_THROW(solver.solve(*a, b), CancelledError);  // the stop is still requested
  EXPECT_THROW(solver.factor(*a), CancelledError);
  solver.stop_by({});
  const std::vector<double> x = solver.solve(*a, b);
  EXPECT_LT(solver.report().backward_error, solver.report().backward_error_limit);
  EXPECT_EQ(x.size(), b.size());
}

TEST(StoppedCalls, AFactorizationEnds) {
  const StoppingMatrix stopping{.stops_at = rows - 1, .source = {}};
  const auto a =
      matrix_from(rows, rows, [&stopping](std::int64_t i, std::int64_t j) { return stopping(i, j); });
  Solver solver(small_options());
  solver.stop_by(stopping.source.get_token());
  EXPECT_THROW(solver.factor(*a), CancelledError);
}

TEST(StoppedCalls, FactorsStayUsable) {
  const StoppingMatrix never{.stops_at = -1, .source = {}};
  const auto a = matrix_from(rows, rows, [&never](std::int64_t i, std::int64_t j) { return never(i, j); });
  Factorization factors = Solver(small_options()).factor(*a);
  const std::int64_t columns = 300;
  const std::vector<double> b(rows, 1.0), many(rows * columns, 1.0);
  const std::vector<double> x = factors.solve(b);
  const LogDeterminant determinant = factors.log_determinant();

  std::stop_source source;
  factors.stop_by(source.get_token());
  EXPECT_EQ(factors.solve(b), x);
  // At some moment of the first or a later sweep.
  std::thread stopper([&source] {
    std::this_thread::sleep_for(std::chrono::milliseconds(3));
    source.request_stop();
  });
  EXPECT_THROW(for (int i = 0; i < 10000; ++i) factors.solve(many, columns), CancelledError);
  stopper.join();
  EXPECT_THROW(factors.log_determinant(), CancelledError);
  EXPECT_THROW(factors.save("unused.factor"), CancelledError);

  factors.stop_by({});
  EXPECT_EQ(factors.solve(b), x);
  EXPECT_EQ(factors.log_determinant().log_absolute, determinant.log_absolute);
  EXPECT_EQ(factors.solve_transposed(b).size(), x.size());
}

TEST(StoppedCalls, AStopOfTheSolverDoesNotConcernItsFactors) {
  const StoppingMatrix never{.stops_at = -1, .source = {}};
  const auto a = matrix_from(rows, rows, [&never](std::int64_t i, std::int64_t j) { return never(i, j); });
  std::stop_source source;
  Solver solver(small_options());
  solver.stop_by(source.get_token());
  Factorization factors = solver.factor(*a);
  const std::vector<double> b(rows, 1.0), x = factors.solve(b);
  source.request_stop();
  EXPECT_EQ(factors.solve(b), x);
}

TEST(StoppedCalls, ASourceInDoublePrecisionSolvesForRightHandSidesInSingle) {
  const StoppingMatrix never{.stops_at = -1, .source = {}};
  const auto a = matrix_from(rows, rows, [&never](std::int64_t i, std::int64_t j) { return never(i, j); });
  const std::vector<double> b(rows, 1.0);
  const std::vector<float> short_b(rows, 1.0f);
  Solver solver(small_options());
  const std::vector<double> x = solver.solve(*a, b);
  const std::vector<float> short_x = solver.solve(*a, short_b);
  EXPECT_EQ(solver.report().precision, ElementType::float64);
  for (std::size_t i = 0; i < x.size(); ++i) EXPECT_EQ(short_x[i], static_cast<float>(x[i]));
}

}  // namespace
}  // namespace fairlead::linalg
