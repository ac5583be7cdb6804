// See system_over_ranks.hpp.
#include "fairlead/system_over_ranks.hpp"

#include <fairlead/error.hpp>
#include <fairlead/gather.hpp>
#include <fairlead/parameterized_linalg.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

#include "algorithms/linalg/backward_error.hpp"
#include "algorithms/linalg/fill.hpp"
#include "fairlead/dense_report.hpp"
#include "fairlead/jdf_algorithms.hpp"
#include "fairlead/tiled_factors.hpp"
#include "net/network.hpp"

namespace fairlead::app {

namespace {

/// What ranks tell each other of themselves, as numbers.
struct Fact {
  enum : std::size_t { seconds, busy, tasks, messages, payloads, payload_bytes, peak, read, written, count };
};

std::array<double, Fact::count> facts_of(const Counts& before, const Counts& after, double took) {
  std::array<double, Fact::count> own{};
  own[Fact::seconds] = took;
  for (std::size_t i = 0; i < after.engine.workers.size(); ++i)
    own[Fact::busy] +=
        std::chrono::duration<double>(after.engine.workers[i].busy - before.engine.workers[i].busy).count();
  own[Fact::tasks] = static_cast<double>(after.engine.tasks - before.engine.tasks);
  own[Fact::messages] = static_cast<double>(after.engine.network.messages - before.engine.network.messages);
  own[Fact::payloads] = static_cast<double>(after.engine.network.payloads - before.engine.network.payloads);
  own[Fact::payload_bytes] =
      static_cast<double>(after.engine.network.payload_bytes - before.engine.network.payload_bytes);
  for (const auto& node : after.engine.nodes)
    if (node.name == "RAM") own[Fact::peak] += static_cast<double>(node.peak_bytes);
  for (std::size_t i = 0; i < after.engine.links.size(); ++i) {
    const auto &from = before.engine.links[i], &to = after.engine.links[i];
    if (to.home != "disk") continue;
    own[Fact::read] += static_cast<double>(to.bytes_from_home() - from.bytes_from_home());
    own[Fact::written] += static_cast<double>(to.bytes_to_home() - from.bytes_to_home());
  }
  return own;
}

report::RankReport rank_report(const double* of, Bytes reserved) {
  return {.busy_seconds = of[Fact::busy],
          .tasks = static_cast<std::uint64_t>(of[Fact::tasks]),
          .messages = static_cast<std::uint64_t>(of[Fact::messages]),
          .payloads = static_cast<std::uint64_t>(of[Fact::payloads]),
          .payload_bytes = static_cast<Bytes>(of[Fact::payload_bytes]),
          .peak_memory_bytes = static_cast<Bytes>(of[Fact::peak]) + reserved,
          .bytes_read = static_cast<Bytes>(of[Fact::read]),
          .bytes_written = static_cast<Bytes>(of[Fact::written])};
}

/// By a runtime of rank 0's own, which knows nothing of how the solution came about.
template <class T>
double judged(const SystemOverRanks<T>& system, const Config& config, const std::vector<T>& x) {
  Config alone = config;
  alone.set("memory", Bytes{1} << 20);
  alone.set("scheduler", "eager");
  Runtime runtime(alone);
  Flow flow(runtime);
  linalg::BackwardError<T> error(system.kernels, system.given_a, system.given_b, x.data(), system.columns);
  error.submit(flow);
  flow.wait();
  return error.value();
}

}  // namespace

template <class T>
Bytes reserved_over_ranks(std::int64_t n, std::int64_t columns) noexcept {
  return static_cast<Bytes>(n * columns) * sizeof(T) +
         linalg::BackwardError<T>::scratch_bytes_per_worker(columns) + (Bytes{3} << 20);
}
template Bytes reserved_over_ranks<float>(std::int64_t, std::int64_t) noexcept;
template Bytes reserved_over_ranks<double>(std::int64_t, std::int64_t) noexcept;

void require_over_ranks(const Config& config) {
  for (const std::string_view option : {"event-log", "record-flow"})
    if (config.has(option))
      throw ConfigError(
          fmt::format("--{} writes down what one rank does: it does not go with several", option));
  if (config.has("front") && config.text("front") == "flow")
    throw ConfigError(
        "--front flow goes with one rank: several compute as parameterized graphs (--front ptg)");
}

template <class T>
SolvedOverRanks<T> solve_over_ranks(const SystemOverRanks<T>& system, const Config& config,
                                    const Rank& rank) {
  const DenseProblem& problem = system.problem;
  const bool all_counts = system.reading != nullptr, first = rank.number() == 0;
  const Distribution distribution(system.grid);
  SolvedOverRanks<T> solved;
  WatchedRun run(config, problem.reserved, system.kernels, system.front, rank);
  Runtime& runtime = run.runtime();
  const std::uint64_t ranks = rank.count();
  double counted = 0;
  const auto end = [&](bool counts, bool flushed = false) {
    counts ? void(counted += run.end(flushed)) : void(run.end_aside(flushed));
  };

  const auto a =
      runtime.tiled<T>("A", problem.n, problem.n, problem.tile, distribution, problem.operation->tiles);
  const auto factors = make_factors<T>(problem, system.kernels, runtime, a);
  const Counts at_first = counts_of(runtime, system.kernels);
  run.begin(all_counts ? system.reading : "generation",
            linalg::fill_tasks(a, problem.operation->tiles) / ranks);
  {
    ptg::Graph graph(runtime);
    linalg::fill<T>(graph, system.a, a, problem.operation->tiles);
    run.run(graph);
  }
  if (system.filled) system.filled(runtime);
  const bool in_core = problem.fits();
  end(all_counts, !in_core);
  if (!in_core) runtime.drop_clean();
  gather(runtime, std::array{0.0});  // all begin together

  const Counts before = all_counts ? at_first : counts_of(runtime, system.kernels);
  const double flops = problem.operation->flops(problem);
  run.begin("factorization", problem.operation->tasks(problem) / ranks, flops / static_cast<double>(ranks));
  if (system.front == Front::jdf) {
    ptg::Graph graph(runtime);
    add_jdf_algorithm<T>(graph, problem.operation->key, {{"descA", &a}}, system.kernels);
    run.run(graph);
  } else {
    run.compute([&](auto& front) { factors->factor(front); });
  }
  end(true, !all_counts && !in_core);
  Counts after = counts_of(runtime, system.kernels);

  const auto x = runtime.tiled<T>("x", problem.n, system.columns, problem.tile, distribution);
  run.begin("solve", factors->solve_tasks(x.tile_columns()) / ranks);
  {
    ptg::Graph graph(runtime);
    linalg::fill<T>(graph, system.b, x, Tiles::all);
    run.run(graph);
  }
  {
    ptg::Graph graph(runtime);
    factors->solve(graph, x);
    run.run(graph);
  }
  solved.x.resize(static_cast<std::size_t>(problem.n * system.columns));
  gather(runtime, x, solved.x.data(), problem.n);
  end(all_counts);
  if (all_counts) after = counts_of(runtime, system.kernels);
  const std::vector<double> all = gather(runtime, facts_of(before, after, counted));

  solved.recorded = runtime.recorded();
  if (first) {
    run.begin("error check", linalg::BackwardError<T>::tasks(problem.n));
    const double error = judged(system, config, solved.x);
    run.end_aside();
    run.stop_showing();
    report::RunReport report = report_between(before, after, config, system.kernels, problem);
    for (std::size_t r = 0; r < rank.count(); ++r) {
      const double* const of = all.data() + r * Fact::count;
      report.seconds = std::max(report.seconds, of[Fact::seconds]);
      report.ranks.push_back(rank_report(of, problem.reserved));
    }
    report.bytes_read = report.bytes_written = report.tasks = 0;
    for (const report::RankReport& one : report.ranks) {
      report.bytes_read += one.bytes_read;
      report.bytes_written += one.bytes_written;
      report.tasks += one.tasks;
    }
    // What the system counts, it counts of one process; and the bounds are those of one memory.
    report.bounds.reset();
    report.kernel_bytes_read.reset();
    report.kernel_bytes_written.reset();
    report.grid = fmt::format("{} x {}", system.grid.rank_rows, system.grid.rank_columns);
    report.network = rank.network->description();
    report.front = system.front == Front::jdf ? "jdf" : "ptg";
    report.gflops = flops / report.seconds * 1e-9;
    report.phases = run.phases();
    report.backward_error = error;
    report.backward_error_limit = linalg::largest_right_error<T>(problem.n);
    solved.report = std::move(report);
  }
  run.stop_showing();
  return solved;
}

template SolvedOverRanks<float> solve_over_ranks<float>(const SystemOverRanks<float>&, const Config&,
                                                        const Rank&);
template SolvedOverRanks<double> solve_over_ranks<double>(const SystemOverRanks<double>&, const Config&,
                                                          const Rank&);

}  // namespace fairlead::app
