// One solve from input files to the output file.
#include "fairlead/solve/solving.hpp"

#include <fairlead/error.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <exception>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "algorithms/linalg/stored_source.hpp"
#include "data/npy/npy_columns.hpp"
#include "data/npy/npy_writer.hpp"
#include "fairlead/run/interrupt.hpp"
#include "fairlead/run/kernels_and_devices.hpp"
#include "fairlead/run/report_output.hpp"
#include "fairlead/run/run_options.hpp"
#include "fairlead/run/watched_run.hpp"
#include "fairlead/solve/counted_run.hpp"
#include "fairlead/subcommand.hpp"
#include "solver/choose_method.hpp"
#include "solver/column_blocks.hpp"
#include "solver/plan.hpp"
#include "solver/rank_attempts.hpp"
#include "solver/report/ranks_report.hpp"
#include "solver/solve_report.hpp"
#include "solver/solve_steps.hpp"
#include "solver/trust.hpp"

namespace fairlead::app {

namespace {

using data::ElementType;
using solver::ColumnBlocks;
using solver::FactorPrecision;
using solver::LinearSystem;
using solver::Milestone;
using solver::SolveOptions;
using solver::SolveResult;
using solver::SolveSteps;

/// The results of one rank.
struct SolvedHere {
  report::RunReport report;
  std::vector<trace::Snapshot> recorded;  ///< as WatchedRun::collect_traces()
};

double operations_of(const LinearSystem& system, const solver::DenseProblem& problem) {
  const double sides = static_cast<double>(system.right_hand_sides());
  return (system.factors != nullptr ? 0 : problem.flops()) + problem.solve_flops(sides);
}

/// The solution of factors in a file has their type.
template <class T>
void write_block_of_columns(CountedRun& run, data::NpyWriter& out, const ColumnBlocks<T>& blocks,
                            std::int64_t block, const std::vector<T>& x) {
  run.begin("writing");
  const auto ld = x.size() / static_cast<std::size_t>(blocks.columns(block));
  std::vector<std::byte> staging(linalg::source_staging_bytes);
  out.write_block<T>(0, blocks.unknowns(), static_cast<std::uint64_t>(blocks.first(block)),
                     static_cast<std::uint64_t>(blocks.columns(block)), x.data(), ld, staging);
  run.end();
}

/// On one rank, with a solution of type T.
template <class T>
SolvedHere solve_here(const LinearSystem& system, const SolveOptions& options, const Config& config,
                      const linalg::Kernels& kernels, const GridRank& place) {
  ColumnBlocks<T> blocks(system, config);
  const LinearSystem first_part = blocks.part(0);
  SolveSteps<T> steps(first_part, options, config, kernels, place);
  CountedRun run(config, steps.reserved() + blocks.bytes(), kernels, front_at(config, place, *options.method),
                 place.rank);
  return run.report_failure_of([&]() -> SolvedHere {
    std::optional<data::NpyWriter> out;  // destroyed while signals are handled
    std::vector<std::uint64_t> shape = system.b->shape();
    shape[0] = static_cast<std::uint64_t>(system.unknowns());
    // After signal handlers are installed: a file with a name would otherwise remain.
    if (place.first()) {
      Interrupt::removes_at_exit([&] {
        out.emplace(config.text("output"), system.solution(), data::StorageOrder::c, shape);
        return std::vector{out->temporary()};
      });
    }
    SolveResult result = steps.run(run);
    if (blocks.count() > 1) {
      write_block_of_columns<T>(run, *out, blocks, 0, steps.solution());
      for (std::int64_t block = 1; block < blocks.count(); ++block) {
        const LinearSystem part = blocks.part(block);
        SolveSteps<T> next(part, options, config, kernels, place);
        add_block(result, next.run(run));
        write_block_of_columns<T>(run, *out, blocks, block, next.solution());
      }
    }
    const bool right = result.backward_error <= result.backward_error_limit &&  // false for NaN
                       !solver::distrusted(result.condition, options.required_digits);
    const bool written = right || config.flag("keep-anyway");
    const bool writes = written && place.first();
    if (writes) {
      run.begin("writing");
      std::vector<std::byte> staging(linalg::source_staging_bytes);
      if (blocks.count() == 1)
        data::write_columns<T>(*out, system.solution(), steps.solution().data(),
                               static_cast<std::uint64_t>(system.long_side()), shape[0], system.b->columns(),
                               staging);
    }
    run.hand_over_to_first_rank();
    const double seconds_of_writing = writes ? run.end_by([&] { out->commit(); }) : 0;
    run.runtime().remove_checkpoint();
    run.remove_progress();
    std::vector<trace::Snapshot> recorded = run.collect_traces();

    const solver::RunCounters &before = run.at(Milestone::started), &after = run.at(Milestone::solved);
    report::RunReport report = report_between(before, after, config, kernels, result.problem);
    report.front = name_of(run.front());
    solver::add_result(report, system, options, result);
    report.seconds += seconds_of_writing;
    report.phases = run.phases();
    report.not_written = run.end_records();
    if (place.alone()) find_limit(report, run.at(Milestone::tiled), after);
    if (written) report.solution = config.text("output");
    combine_ranks(report, run.runtime(), place, before, after, steps.reserved(), recorded.front());
    report.gflops = operations_of(system, result.problem) / (report.seconds - result.given_up_seconds) * 1e-9;
    return {std::move(report), std::move(recorded)};
  });
}

template <class T>
SolvedHere solve_on_ranks(const LinearSystem& system, const SolveOptions& options, const Config& config,
                          const linalg::Kernels& kernels, const CommandRanks& ranks) {
  return ranks.results(
      [&](const GridRank& place) { return solve_here<T>(system, options, config, kernels, place); });
}

template <class T>
SolvedHere solve_in_attempts(const LinearSystem& system, const SolveOptions& options, const Config& config,
                             const linalg::Kernels& kernels, CommandRanks& ranks) {
  return solver::solve_in_attempts<SolvedHere>(
      options,
      [&](const SolveOptions& with) {
        // A signal after an attempt that failed: otherwise the next one would ignore it.
        const auto check_signal = [] {
          if (const int signal = Interrupt::signal(); signal != 0) throw Interrupted{signal};
        };
        try {
          return solve_on_ranks<T>(system, with, config, kernels, ranks);
        } catch (const solver::NoPrecisionHelps&) {
          throw;
        } catch (const NumericalError&) {
          check_signal();
          throw;
        } catch (const RankError&) {
          check_signal();
          throw;
        }
      },
      solver::RemoteErrors::as_rank_errors,
      [&](double own) {
        ranks.renew();
        return ranks.gather_from_processes(config, {&own, 1});
      },
      [&](const std::string& why) {
        if (ranks.first()) fmt::print(stderr, "fairlead: {}; trying again in double precision\n", why);
      });
}

/// The same on one rank, where the steps of a solve make all attempts, or over ranks.
template <class T>
SolvedHere solve_as(const LinearSystem& system, const SolveOptions& options, const Config& config,
                    const linalg::Kernels& kernels, CommandRanks& ranks) {
  const bool one_attempt = options.factor == FactorPrecision::of_solution && options.fallback == nullptr &&
                           !options.may_be_triangular;
  return ranks.alone() || one_attempt ? solve_on_ranks<T>(system, options, config, kernels, ranks)
                                      : solve_in_attempts<T>(system, options, config, kernels, ranks);
}

}  // namespace

int solve(const LinearSystem& system, const SolveOptions& options, const Config& given, CommandRanks& ranks) {
  Config config = given;
  const bool refine = options.factor != FactorPrecision::of_solution;
  const ElementType element = system.solution();
  const std::int64_t m = system.long_side(), n = system.short_side();
  const solver::DenseProblem problem{.operation = options.method,
                                     .title = {},
                                     .n = n,
                                     .m = m == n ? 0 : m,
                                     .element = refine ? element_type(true, is_complex(element)) : element};
  const KernelsAndDevices loaded = load_kernels_and_devices(config, true, problem, ranks);
  const linalg::Kernels& kernels = loaded.kernels;
  if (ranks.alone() && !config.flag("quiet"))
    if (const auto notice = solver::notice_of_long_run(system, options, config, kernels, loaded.core_gflops))
      fmt::print(stderr, "fairlead: {}\n", *notice);
  // Refinement and the matrices of points need double precision.
  const bool widens = refine || system.of_points();
  SolvedHere solved =
      with_scalar(widens ? element_type(false, is_complex(element)) : element,
                  [&]<class T>() { return solve_as<T>(system, options, config, kernels, ranks); });
  solved.report.devices = loaded.devices;
  solved.report.changed_input = system.changed_input();
  if (!ranks.first()) return solver::wrong_answer(solved.report) ? wrong_result : success;
  const std::string& output = config.text("output");
  return publish_result(
      solved.report, config, solved.recorded, fmt::format("The solution is in {} all the same.", output),
      config.flag("keep-anyway") ? fmt::format(". It is in {} all the same", output)
                                 : fmt::format(". {} has not been written; --keep-anyway writes it", output));
}

}  // namespace fairlead::app
