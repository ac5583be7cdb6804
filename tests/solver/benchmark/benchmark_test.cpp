// Benchmarks compute what they claim to, by any front end and on any number of ranks, and their check detects a result that was
// not computed.
#include "solver/benchmark/benchmark.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <thread>
#include <vector>

#include "algorithms/linalg/backward_error.hpp"
#include "little_memory.hpp"

namespace fairlead::solver {
namespace {

constexpr std::int64_t n = 90;

DenseProblem problem_of(const DenseOperation& operation, std::int64_t rows, ElementType element) {
  return {.operation = &operation,
          .title = operation.name,
          .n = n,
          .m = rows == n ? 0 : rows,
          .tile = 16,
          .element = element,
          .memory_limit = Bytes{16} << 20};
}

struct Outcome {
  double error = 0;
  std::uint64_t digest = 0;
};

template <class T>
Outcome outcome_of(const DenseProblem& problem, Front front, bool computes, const GridRank& place = {}) {
  const linalg::Kernels kernels = linalg::Kernels::load();
  const auto benchmark = make_benchmark<T>(problem, kernels, 7);
  EXPECT_GT(benchmark->reserved_bytes(2), 0U);
  Execution run(tests::in_little_memory(), benchmark->reserved_bytes(2), kernels, front, place.rank);
  benchmark->begin(run, place, problem);
  run.begin("generation", benchmark->generation_tasks());
  benchmark->generate(run.flow());
  run.wait();
  if (place.alone()) {
    EXPECT_EQ(run.progress().tasks_done, run.progress().tasks_total) << "of generation";
  }
  run.end();
  run.begin("computation", problem.operation->tasks(problem));
  if (computes) benchmark->compute();
  run.wait();
  run.end();
  Outcome outcome;
  outcome.digest = benchmark->digest();
  outcome.error = benchmark->check();
  benchmark->end();
  return outcome;
}

template <class T>
void expect_right(const DenseOperation& operation, std::int64_t rows, Front front) {
  const DenseProblem problem = problem_of(operation, rows, element_type_of<T>);
  const std::string what = std::string(operation.key) + " " + std::string(name_of(front));
  const Outcome outcome = outcome_of<T>(problem, front, true);
  EXPECT_LE(outcome.error, linalg::max_correct_backward_error<T>(rows)) << what;
  EXPECT_EQ(outcome.digest, outcome_of<T>(problem, Front::flow, true).digest) << what;
}

TEST(Benchmark, ResultsAreRightAndTheSameByAnyFrontEnd) {
  for (const DenseOperation* const operation : all_operations())
    for (const Front front : {Front::flow, Front::ptg, Front::jdf}) {
      if (front == Front::ptg && !has_graph(*operation)) continue;
      if (front == Front::jdf && operation->jdf.empty()) continue;
      expect_right<double>(*operation, n, front);
      expect_right<float>(*operation, n, front);
    }
  expect_right<double>(qr_operation, 2 * n, Front::flow);
}

TEST(Benchmark, TheCheckDetectsAResultThatWasNotComputed) {
  for (const DenseOperation* const operation :
       {&cholesky_operation, &unpivoted_lu_operation, &product_operation}) {
    const DenseProblem problem = problem_of(*operation, n, ElementType::float64);
    EXPECT_GT(outcome_of<double>(problem, Front::flow, false).error, 1e-6) << operation->key;
  }
}

TEST(Benchmark, RanksComputeTheSameTogether) {
  const DenseProblem problem = problem_of(cholesky_operation, n, ElementType::float64);
  const Outcome alone = outcome_of<double>(problem, Front::ptg, true);
  constexpr std::uint32_t ranks = 2;
  const std::vector<Rank> places = ranks_in_process(ranks);
  std::vector<Outcome> outcomes(ranks);
  std::vector<std::thread> threads;
  for (std::uint32_t i = 0; i < ranks; ++i)
    threads.emplace_back([&, i] {
      outcomes[i] = outcome_of<double>(
          problem, Front::ptg, true,
          {.rank = places[i], .grid = {.rank_rows = 1, .rank_columns = 2}, .readers = ranks});
    });
  for (std::thread& thread : threads) thread.join();
  for (const Outcome& outcome : outcomes) {
    EXPECT_EQ(outcome.digest, alone.digest);
    EXPECT_LE(outcome.error, linalg::max_correct_backward_error<double>(n));
  }
}

}  // namespace
}  // namespace fairlead::solver
