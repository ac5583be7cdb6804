// The public solver over ranks, which are threads here: every method against elimination in long double; errors have the
// same type on all ranks, whichever of them found it; after an error the ranks solve the next system.
#include <fairlead/solver.hpp>

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <mutex>
#include <string>
#include <thread>
#include <typeinfo>
#include <utility>
#include <vector>

#include "algorithms/linalg/singular_error.hpp"
#include "solver/dense_systems.hpp"
#include "solver/factor_systems.hpp"

namespace fairlead::linalg::over_ranks {
namespace {

using tests::DenseSystem;
using tests::dominant_system;
using tests::every_method;
using tests::exact_solution;
using tests::plain_system_for;
using tests::random_system;
using tests::relative_difference;
using tests::symmetric_system;

/// The places of ranks that are threads, in one run after the other.
class Places {
 public:
  explicit Places(std::uint32_t count) : count_(count), runs_(count) {}
  Rank next(std::uint32_t rank) {
    const std::lock_guard guard(mutex_);
    const std::size_t run = runs_[rank]++;
    if (run == all_.size()) all_.push_back(ranks_in_process(count_));
    return all_[run][rank];
  }

 private:
  std::mutex mutex_;
  const std::uint32_t count_;
  std::vector<std::size_t> runs_;  // by rank: those it has joined
  std::vector<std::vector<Rank>> all_;
};

/// What a rank got: a solution, or an error.
struct Solved {
  std::vector<double> x{};
  SolveReport report{};
  std::string type{}, error{};
};

/// The solves of one rank.
using Body = std::function<void(std::uint32_t rank, Solver& solver)>;

void on_ranks(std::uint32_t count, const std::function<SolverOptions(std::uint32_t)>& options,
              const Body& body) {
  Places places(count);
  std::vector<std::thread> threads;
  for (std::uint32_t rank = 0; rank < count; ++rank)
    threads.emplace_back([&, rank] {
      SolverOptions own = options(rank);
      own.rank = [&places, rank] { return places.next(rank); };
      Solver solver(std::move(own));
      body(rank, solver);
    });
  for (std::thread& thread : threads) thread.join();
}

template <class T>
Solved solve(Solver& solver, const DenseSystem<T>& system) {
  Solved solved;
  try {
    const std::vector<T> x = solver.solve(
        MatrixView<T>{.elements = system.a.data(), .rows = system.rows, .columns = system.columns}, system.b,
        system.sides);
    solved.x.assign(x.begin(), x.end());
  } catch (const Error& error) {
    solved.type = typeid(error).name();
    solved.error = error.what();
  }
  solved.report = solver.report();
  return solved;
}

/// The same system on all ranks.
template <class T>
std::vector<Solved> solve_on_ranks(std::uint32_t count, const DenseSystem<T>& system,
                                   const SolverOptions& options) {
  std::vector<Solved> all(count);
  on_ranks(
      count, [&](std::uint32_t) { return options; },
      [&](std::uint32_t rank, Solver& solver) { all[rank] = solve(solver, system); });
  return all;
}

SolverOptions options_of(Method method, Bytes memory = 64_MiB) {
  return {.memory = memory, .method = method, .tile = 16, .workers = 1, .config = Config()};
}

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

template <class ErrorType>
void expect_all(const std::vector<Solved>& all, const std::string& part) {
  for (std::size_t rank = 0; rank < all.size(); ++rank) {
    EXPECT_EQ(all[rank].type, typeid(ErrorType).name()) << "rank " << rank << ": " << all[rank].error;
    EXPECT_TRUE(contains(all[rank].error, part)) << "rank " << rank << ": " << all[rank].error;
  }
}

}  // namespace

TEST(SolverOverRanks, EveryRankGetsTheSolution) {
  for (const Method method : every_method()) {
    for (const std::uint32_t ranks : {1, 2, 3})
      for (const std::int64_t n : {1, 33, 75}) {
        const auto system = plain_system_for<double>(method, n, 2, 7);
        const std::vector<double> exact = exact_solution(system);
        for (const Solved& solved : solve_on_ranks(ranks, system, options_of(method))) {
          ASSERT_EQ(solved.error, "") << name_of(method) << ", n = " << n << ", " << ranks << " ranks";
          EXPECT_LT(relative_difference(solved.x, exact), 1e-10) << name_of(method) << ", n = " << n;
          EXPECT_EQ(solved.report.method, method);
        }
      }
  }
}

TEST(SolverOverRanks, SolvesOutOfCoreAndInSinglePrecision) {
  const auto in_double = random_system<double>(300, 300, 1, 3);
  for (const Solved& solved : solve_on_ranks(2, in_double, options_of(Method::lu, 4_MiB))) {
    ASSERT_EQ(solved.error, "");
    EXPECT_LT(relative_difference(solved.x, exact_solution(in_double)), 1e-9);
  }
  const auto in_single = dominant_system<float>(100, 1, 3);
  for (const Solved& solved : solve_on_ranks(2, in_single, options_of(Method::automatic))) {
    ASSERT_EQ(solved.error, "");
    EXPECT_LT(relative_difference(solved.x, exact_solution(in_single)), 1e-4);
  }
}

// Over ranks each method is another attempt of all of them.
TEST(SolverOverRanks, ChoosesTheMethod) {
  const auto check = [](const DenseSystem<double>& system, Method expected) {
    for (const Solved& solved : solve_on_ranks(3, system, options_of(Method::automatic))) {
      ASSERT_EQ(solved.error, "");
      EXPECT_EQ(solved.report.method, expected) << solved.report.method_reason;
      EXPECT_FALSE(solved.report.method_reason.empty());
      EXPECT_LT(relative_difference(solved.x, exact_solution(system)), 1e-9);
    }
  };
  check(symmetric_system<double>(70, 1, 5), Method::cholesky);
  check(random_system<double>(70, 70, 1, 5), Method::lu_incremental);
  check(random_system<double>(90, 40, 1, 5), Method::qr);
  auto indefinite = symmetric_system<double>(70, 1, 5);
  indefinite.at(50, 50) = -1000;
  check(indefinite, Method::lu_incremental);
  for (const bool upper : {false, true}) {
    auto triangular = dominant_system<double>(70, 1, 5);
    for (std::int64_t j = 0; j < 70; ++j)
      for (std::int64_t i = 0; i < 70; ++i)
        if (upper ? i > j : i < j) triangular.at(i, j) = 0;
    check(triangular, Method::triangular);
  }
}

TEST(SolverOverRanks, FallsBackToDoublePrecision) {
  SolverOptions options = options_of(Method::cholesky);
  options.refine = true;
  auto system = symmetric_system<double>(70, 1, 5);
  system.at(3, 3) = 1e-60;  // zero in single precision
  for (std::int64_t i = 0; i < 70; ++i)
    if (i != 3) system.at(i, 3) = system.at(3, i) = 0;
  for (const Solved& solved : solve_on_ranks(2, system, options)) {
    ASSERT_EQ(solved.error, "");
    EXPECT_LT(relative_difference(solved.x, exact_solution(system)), 1e-9);
    ASSERT_FALSE(solved.report.warnings.empty());
    EXPECT_TRUE(contains(solved.report.warnings.back(), "double precision")) << solved.report.warnings.back();
  }
}

TEST(SolverOverRanks, ErrorsHaveTheSameTypeOnAllRanks) {
  auto system = random_system<double>(64, 64, 1, 5);
  for (std::int64_t i = 0; i < 64; ++i) system.at(i, 40) = system.at(i, 41) = 0;
  expect_all<SingularError>(solve_on_ranks(3, system, options_of(Method::lu)), "singular");
  auto indefinite = symmetric_system<double>(64, 1, 5);
  indefinite.at(50, 50) = -1000;
  expect_all<NumericalError>(solve_on_ranks(3, indefinite, options_of(Method::cholesky)),
                             "positive definite");
  expect_all<NumericalError>(solve_on_ranks(3, indefinite, options_of(Method::triangular)), "not triangular");
  system.at(60, 2) = std::numeric_limits<double>::quiet_NaN();
  expect_all<NumericalError>(solve_on_ranks(3, system, options_of(Method::lu)), "NaN");
}

TEST(SolverOverRanks, AllRanksMustPassTheSameSystem) {
  const auto system = dominant_system<double>(40, 1, 5);
  struct Case {
    const char* text;
    std::function<void(DenseSystem<double>&)> change;
  };
  const Case cases[] = {{"of the same shape", [](auto& other) { other = dominant_system<double>(41, 1, 5); }},
                        {"different right-hand sides", [](auto& other) { other.b[39] += 1; }},
                        {"different matrices", [](auto& other) { other.at(7, 0) += 1; }}};
  for (const Case& one : cases) {
    std::vector<Solved> all(3);
    on_ranks(
        3, [](std::uint32_t) { return options_of(Method::lu); },
        [&](std::uint32_t rank, Solver& solver) {
          DenseSystem<double> own = system;
          if (rank == 2) one.change(own);
          all[rank] = solve(solver, own);
        });
    expect_all<UsageError>(all, one.text);
  }
}

TEST(SolverOverRanks, AllRanksMustPassTheSameOptions) {
  const auto system = dominant_system<double>(40, 1, 5);
  for (const bool of_method : {false, true}) {
    std::vector<Solved> all(2);
    on_ranks(
        2,
        [&](std::uint32_t rank) {
          SolverOptions options = options_of(of_method && rank == 1 ? Method::qr : Method::lu);
          options.condition = of_method || rank == 0;
          return options;
        },
        [&](std::uint32_t rank, Solver& solver) { all[rank] = solve(solver, system); });
    expect_all<UsageError>(all, "the same options");
  }
}

// One rank cannot even begin; then all of them solve another system.
TEST(SolverOverRanks, SolvesTheNextSystemAfterAnError) {
  const auto system = dominant_system<double>(40, 1, 5);
  std::vector<Solved> failed(3), solved(3);
  on_ranks(
      3, [](std::uint32_t) { return options_of(Method::lu); },
      [&](std::uint32_t rank, Solver& solver) {
        DenseSystem<double> own = system;
        if (rank == 1) own.b.pop_back();
        failed[rank] = solve(solver, own);
        auto singular = system;
        for (std::int64_t i = 0; i < 40; ++i) singular.at(i, 30) = 0;
        EXPECT_TRUE(contains(solve(solver, singular).error, "singular"));
        solved[rank] = solve(solver, system);
      });
  for (std::uint32_t rank = 0; rank < 3; ++rank) {
    EXPECT_TRUE(contains(failed[rank].error, "b has 39 elements")) << failed[rank].error;
    EXPECT_EQ(solved[rank].error, "");
    EXPECT_LT(relative_difference(solved[rank].x, exact_solution(system)), 1e-10);
  }
}

TEST(SolverOverRanks, RefusesWhatOneProcessMustDo) {
  const auto system = dominant_system<double>(40, 1, 5);
  on_ranks(
      2, [](std::uint32_t) { return options_of(Method::lu); },
      [&](std::uint32_t, Solver& solver) {
        EXPECT_THROW(static_cast<void>(solver.factor(
                         MatrixView<double>{.elements = system.a.data(), .rows = 40, .columns = 40})),
                     UsageError);
        EXPECT_EQ(solve(solver, system).error, "");
      });
}

}  // namespace fairlead::linalg::over_ranks
