// See bench_over_ranks.hpp.
#include "fairlead/bench_over_ranks.hpp"

#include <fairlead/error.hpp>

#include <fmt/format.h>

#include <cstdio>
#include <memory>
#include <string_view>

#include "algorithms/linalg/generated_matrix.hpp"
#include "fairlead/dense_report.hpp"
#include "fairlead/front.hpp"
#include "fairlead/generated_problem.hpp"
#include "fairlead/system_over_ranks.hpp"
#include "fairlead/trust.hpp"

namespace fairlead::app {

using linalg::GeneratedUniform;

void require_bench_over_ranks(const Config& config, const DenseProblem& problem) {
  require_over_ranks(config);
  if (problem.operation == &product_operation || problem.m != 0)
    throw ConfigError(
        fmt::format("bench {} runs on one rank: over several there are factorizations of square matrices",
                    problem.operation->key));
  if (config.flag("digest")) throw ConfigError("--digest goes with one rank");
}

template <class T>
int bench_over_ranks(const Config& config, const DenseProblem& problem, const linalg::Kernels& kernels,
                     const CommandRanks& ranks) {
  const std::uint64_t seed = config.count("seed");
  SystemOverRanks<T> system{.problem = problem, .kernels = kernels, .grid = ranks.grid()};
  system.front = config.has("front") ? front_in(config) : Front::ptg;
  system.a = generated_matrix<T>(problem, seed);
  system.given_a = generated_matrix<double>(problem, seed);
  system.b = std::make_shared<GeneratedUniform<T>>(problem.n, 1, seed + 1);
  system.given_b = std::make_shared<GeneratedUniform<double>>(problem.n, 1, seed + 1);
  SolvedOverRanks<T> solved;
  ranks.run([&](const Rank& rank) {
    SolvedOverRanks<T> own = solve_over_ranks(system, config, rank);
    if (rank.number() == 0) solved = std::move(own);
  });
  if (!solved.report) return success;
  publish(*solved.report, config, solved.recorded);
  const auto wrong = wrong_answer(*solved.report);
  if (!wrong) return success;
  std::fflush(stdout);  // the report before what is wrong with it
  fmt::print(stderr, "fairlead: {}\n", *wrong);
  return wrong_result;
}

template int bench_over_ranks<float>(const Config&, const DenseProblem&, const linalg::Kernels&,
                                     const CommandRanks&);
template int bench_over_ranks<double>(const Config&, const DenseProblem&, const linalg::Kernels&,
                                      const CommandRanks&);

}  // namespace fairlead::app
