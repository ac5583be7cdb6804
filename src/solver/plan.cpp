// See plan.hpp.
#include "solver/plan.hpp"

#include <fairlead/error.hpp>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "base/bytes_text.hpp"
#include "base/pages.hpp"
#include "base/scalar.hpp"
#include "config/value.hpp"
#include "front/runtime/machine_profile.hpp"
#include "machine/disk.hpp"
#include "machine/machine.hpp"
#include "solver/choose_method.hpp"
#include "solver/kept_factorization.hpp"
#include "solver/matrix_sample.hpp"
#include "solver/planned_run.hpp"
#include "solver/solve_steps.hpp"
#include "solver/solver_options.hpp"
#include "solver/task_times.hpp"

namespace fairlead::solver {

namespace {

/// Pages of the smallest memory limit that satisfies the condition, which holds for all larger ones; at most `most`.
template <class Condition>
Bytes smallest_limit(Bytes least, Bytes most, const Condition& condition) {
  Bytes below = least / page_bytes, enough = (most + page_bytes - 1) / page_bytes;
  while (below + 1 < enough) {
    const Bytes middle = below + (enough - below) / 2;
    (condition(middle * page_bytes) ? enough : below) = middle;
  }
  return enough * page_bytes;
}

template <class T>
class SolvePlanner {
 public:
  SolvePlanner(const LinearSystem& system, const SolveOptions& options, const Config& config,
               const linalg::Kernels& kernels)
      : system_(system),
        options_(options),
        config_(config),
        kernels_(kernels),
        machine_(machine::discover()),
        profile_(config, machine_),
        workers_(config.count_or("workers", machine_.workers)) {
    const std::int64_t rows = system.rows(), columns = system.right_hand_sides();
    system_.b = shape_only(system.b->name(), system.b->element(), rows, columns);
    config_.set("devices", "none");
    config_.set("quiet-period", 0);
    for (const std::string_view key : {"report", "trace", "event-log", "record-flow"})
      config_.set(key, "none");
  }

  linalg::SolvePlan plan() {
    choose();
    const SolveSteps<T> steps(system_, options_, config_, kernels_, {});
    DenseProblem problem = sized(*method_, steps.reserved() - steps.kept());
    set_memory(problem);
    problem.reserved = steps.reserved();
    problem.set_tile(config_, workers_);
    plan_.tile = problem.tile;
    plan_.free_disk_space = machine::disk_of(config_.text("disk-directory")).free_bytes;
    simulate(problem);
    const bool spills = !problem.fits() || plan_.spill_bytes_written + plan_.check_bytes_written > 0;
    plan_.disk_space = spills ? problem.stored_bytes() : 0;
    plan_.method = method_of(*method_);
    plan_.rows = system_.rows();
    plan_.columns = system_.unknowns();
    plan_.right_hand_sides = system_.right_hand_sides();
    plan_.precision = system_.solution();
    plan_.workers = workers_;
    plan_.memory = config_.bytes("memory");
    count_files(steps.kept());
    return std::move(plan_);
  }

 private:
  /// The method that will solve the system, as far as a sample of the matrix shows it.
  void choose() {
    method_ = options_.method;
    const bool has_fallback = options_.fallback != nullptr || options_.symmetric_fallback != nullptr;
    if (!has_fallback) return;
    const MatrixSample sample = sample_of(*system_.a);
    if (!sample.asymmetry.empty() && sample.equals_transpose && options_.symmetric_fallback != nullptr) {
      unsuitable_ = sample.asymmetry;  // complex and symmetric
      method_ = options_.symmetric_fallback;
    } else if (!sample.asymmetry.empty() && options_.fallback != nullptr) {
      unsuitable_ = sample.asymmetry;
      options_.symmetric_fallback = nullptr;
      method_ = options_.fallback;
    } else if (!sample.not_positive.empty()) {
      unsuitable_ = sample.not_positive;
      method_ = options_.symmetric_fallback != nullptr ? options_.symmetric_fallback : options_.fallback;
    } else {
      plan_.assumptions.push_back("the matrix is symmetric positive definite, which a solve finds out");
    }
  }

  DenseProblem sized(const DenseOperation& method, Bytes reserved) const {
    const std::int64_t n = system_.short_side(), m = system_.long_side();
    const bool in_single = options_.factor != FactorPrecision::of_solution;
    return {.operation = &method,
            .title = {},
            .n = n,
            .m = m == n ? 0 : m,
            .element = element_type(in_single || is_single(element_type_of<T>), is_complex_number<T>),
            .own_products = kernels_.has_own_products(),
            .memory_limit = config_.bytes("memory"),
            .reserved = reserved};
  }

  /// `problem` with another memory limit, and the tile for that; nothing if there is none.
  std::optional<DenseProblem> with_limit(DenseProblem problem, Bytes limit) const {
    problem.memory_limit = limit;
    try {
      problem.set_tile(config_, workers_);
    } catch (const ConfigError&) {
      return std::nullopt;
    }
    if (problem.operation->solve->least_squares) problem.set_tree();
    return problem;
  }
  /// Throws FootprintError if the limit is too small.
  void set_memory(const DenseProblem& problem) {
    const Bytes most = 4 * problem.matrix_bytes() + problem.reserved + (Bytes{1} << 30);
    const auto runs = [&](Bytes limit) {
      const auto there = with_limit(problem, limit);
      return there && limit > there->reserved + page_bytes &&
             there->operation->task_bytes(*there) <= whole_pages_in(limit - there->reserved);
    };
    const auto keeps_all = [&](Bytes limit) {
      auto there = with_limit(problem, limit);
      if (!there) return false;
      // Tasks that factor a panel copy it, and those on pairs of tiles have scratch memory.
      const DenseOperation& method = *there->operation;
      if (method.factors_whole_panels)
        there->reserved += method.task_bytes(*there);
      else if (method.extra_bytes != nullptr)
        there->reserved += (1 + workers_) * method.task_bytes(*there);
      return there->fits();
    };
    plan_.least_memory = smallest_limit(problem.reserved, most, runs);
    plan_.in_core_memory = std::max(plan_.least_memory, smallest_limit(problem.reserved, most, keeps_all));
    if (!runs(problem.memory_limit))
      throw FootprintError(
          fmt::format("the memory limit of {} is too small for {} of {} x {}: at least {} are needed{}",
                      config::readable_size(problem.memory_limit), problem.operation->name, problem.rows(),
                      problem.n, mebibytes_needed(plan_.least_memory),
                      config_.has("tile") ? fmt::format(" with --tile {}", config_.count("tile")) : ""));
  }

  /// In the tiles of the run, or in larger ones if there are too many tasks; if memory does not hold enough of those,
  /// for smaller matrices.
  void simulate(const DenseProblem& problem) {
    const auto times = std::make_shared<TaskTimes>(profile_.durations(), [this] { return rates(); });
    const DenseProblem simulated = with_larger_tiles(problem);
    const std::uint64_t tasks = problem.operation->tasks(problem),
                        left = simulated.operation->tasks(simulated);
    if (left < tasks && !unsuitable_.empty()) {
      // The tile is that of the last method.
      options_ = with_fallback(options_, *method_, std::exchange(unsuitable_, {}));
      reads_again_ = true;
    }
    reads_again_ = reads_again_ || !unsuitable_.empty();
    std::int64_t times_smaller = 1;
    while (left / static_cast<std::uint64_t>(times_smaller * times_smaller * times_smaller) > most_tasks)
      ++times_smaller;
    Config config = config_;
    if (left < tasks || times_smaller > 1) config.set("tile", simulated.tile);
    if (!problem.fits() && left > most_tasks_of_default_policy && !config.has("scheduler"))
      config.set("scheduler", "blocks");
    PlannedOutcome outcome;
    if (times_smaller > 1) {
      outcome = extrapolated(of_smaller(config, problem, times, times_smaller),
                             of_smaller(config, problem, times, 2 * times_smaller),
                             static_cast<double>(times_smaller));
      plan_.assumptions.push_back(
          fmt::format("the run has about {:.1e} tasks: time and bytes are extrapolated from matrices with "
                      "1/{} and 1/{} of the rows",
                      static_cast<double>(tasks), times_smaller, 2 * times_smaller));
    } else {
      outcome = simulate_solve<T>(system_, options_, config, kernels_, times, unsuitable_);
      if (left < tasks)
        plan_.assumptions.push_back(
            fmt::format("the run has about {:.1e} tasks, so it was simulated in tiles of {}",
                        static_cast<double>(tasks), simulated.tile));
    }
    method_ = outcome.method;
    plan_.method_reason = outcome.method_reason;
    plan_.spill_bytes_read = outcome.until_solved.read;
    plan_.spill_bytes_written = outcome.until_solved.written;
    plan_.check_bytes_read = outcome.of_checks.read;
    plan_.check_bytes_written = outcome.of_checks.written;
    plan_.phases = outcome.phases;
    plan_.seconds = outcome.seconds;
    set_range(*times, outcome);
    // What the smaller number of tasks does not show, as an assumption.
    const double uncertain = times_smaller > 1 ? 1.5 : left < tasks ? 1.25 : 1;
    plan_.least_seconds /= uncertain;
    plan_.most_seconds *= uncertain;
  }
  DenseProblem with_larger_tiles(const DenseProblem& problem) const {
    const Bytes capacity = whole_pages_in(problem.memory_limit - problem.reserved);
    DenseProblem larger = problem;
    for (std::int32_t times = 2; larger.operation->tasks(larger) > most_tasks; ++times) {
      DenseProblem next = problem;
      next.tile = times * problem.tile;
      // As when a tile is chosen: tiles of running tasks and for choice, or several columns of them.
      const Bytes tile = whole_pages_for(static_cast<Bytes>(next.tile) * static_cast<Bytes>(next.tile) *
                                         next.element_bytes());
      constexpr Bytes tasks_at_once = 5, enough_tiles = 200;
      if (capacity / tile < enough_tiles || tasks_at_once * next.operation->task_bytes(next) > capacity ||
          next.tiles() < 4)
        break;
      larger = next;
    }
    return larger;
  }
  PlannedOutcome of_smaller(Config config, const DenseProblem& problem,
                            const std::shared_ptr<TaskTimes>& times, std::int64_t times_smaller) const {
    LinearSystem smaller = system_;
    const auto part = [&](std::int64_t whole) { return std::max<std::int64_t>(1, whole / times_smaller); };
    smaller.a =
        shape_only(system_.a->name(), system_.a->element(), part(system_.rows()), part(system_.unknowns()));
    smaller.b =
        shape_only(system_.b->name(), system_.b->element(), part(system_.rows()), system_.right_hand_sides());
    if (!problem.fits()) {
      // The same number of columns of tiles in memory, unless that is most of the matrix: then the same share.
      const auto divisor = static_cast<Bytes>(times_smaller);
      const Bytes capacity = problem.memory_limit - problem.reserved;
      const bool most_of_it = 5 * divisor * capacity > 2 * problem.stored_bytes();
      const Bytes reserved = SolveSteps<T>(smaller, options_, config, kernels_, {}).reserved();
      config.set("memory", reserved + capacity / divisor / (most_of_it ? divisor : 1));
    }
    return simulate_solve<T>(smaller, options_, config, kernels_, times, unsuitable_);
  }

  /// The time is in part that of tasks, in part that of copies for which workers wait; and it is at least that of all
  /// copies.
  void set_range(const TaskTimes& times, const PlannedOutcome& outcome) {
    const bool measured = is_disk_measured();
    // Disks of virtual machines differ by as much from one measurement to the next.
    const double fast = measured ? 1 / 1.5 : 0.5, slow = measured ? 1.5 : 4;
    const double waiting = outcome.waiting_for_data;
    plan_.least_seconds = plan_.seconds * ((1 - waiting) * times.busy().least_share() + waiting * fast);
    plan_.most_seconds =
        std::max(plan_.seconds * ((1 - waiting) * times.busy().most_share() + waiting * slow),
                 std::max(plan_.seconds, outcome.disk_busy_seconds * slow));
    if (!measured && outcome.disk_busy_seconds > 0)
      plan_.assumptions.push_back(
          "the disk was not measured (by fairlead calibrate), and may be four times slower or twice as fast "
          "as its assumed 3 GB/s");
    if (!times.assumed().empty())
      plan_.assumptions.push_back(fmt::format(
          "no run on this machine has measured tasks of the kinds {}: their times follow from rates of "
          "kernels and memory, and may be half or double",
          fmt::join(times.assumed(), ", ")));
    constexpr double worth_saying = 0.1;
    if (times.extrapolated_share() > worth_saying)
      plan_.assumptions.push_back(
          fmt::format("{:.0f} % of the computing time is extrapolated from tasks of "
                      "other sizes",
                      100 * times.extrapolated_share()));
  }
  bool is_disk_measured() const {
    const std::string place = machine::disk_label(config_.text("disk-directory"));
    return std::ranges::any_of(profile_.links(), [&](const model::KeptLink& link) {
      return (link.first == "disk" || link.second == "disk") && link.place == place;
    });
  }

  /// Less than a second.
  linalg::KernelRates rates() const {
    constexpr std::int64_t largest = 768;
    linalg::RateSettings settings;
    settings.tile = static_cast<int>(std::min<std::int64_t>({plan_.tile, largest, system_.short_side()}));
    settings.threads = static_cast<int>(workers_);
    settings.per_kernel = std::chrono::milliseconds(20);
    settings.repetitions = 3;
    settings.kernels = linalg::RateSet::cholesky;
    // A kernel on complex numbers is about as fast per operation on real numbers.
    return options_.factor == FactorPrecision::of_solution
               ? linalg::measure<RealOf<T>>(kernels_.blas(), settings)
               : linalg::measure<float>(kernels_.blas(), settings);
  }

  /// `kept`: bytes of the file of A that stay in memory.
  void count_files(Bytes kept) {
    const Bytes all = system_.a->data_bytes(),
                triangle = system_.stored == linalg::Stored::both || system_.stored == linalg::Stored::mean
                               ? all
                               : all / 2;
    const Bytes passes = reads_again_ ? 2 : 1;  // and one that checks the solution
    plan_.input_bytes = kept >= all ? triangle : (passes + 1) * triangle - passes * std::min(kept, triangle);
    plan_.input_bytes += system_.b->data_bytes();
    plan_.output_bytes =
        static_cast<Bytes>(plan_.columns * plan_.right_hand_sides) * data::bytes_of(system_.solution());
  }

  static constexpr std::uint64_t most_tasks = 400'000;  // a second or two of simulation
  // Out of core, the default policy simulates the rest of a run several times, and mostly selects `blocks`.
  static constexpr std::uint64_t most_tasks_of_default_policy = 25'000;

  LinearSystem system_;
  SolveOptions options_;
  Config config_;
  const linalg::Kernels kernels_;
  const machine::Machine machine_;
  const front::MachineProfile profile_;
  const std::size_t workers_;
  const DenseOperation* method_ = nullptr;
  std::string unsuitable_;
  bool reads_again_ = false;
  linalg::SolvePlan plan_;
};

}  // namespace

linalg::SolvePlan plan_solve(const LinearSystem& system, const SolveOptions& options, const Config& config,
                             const linalg::Kernels& kernels) {
  const ElementType element = system.solution();
  // Refinement needs double precision.
  const bool in_single = is_single(element) && options.factor == FactorPrecision::of_solution;
  return with_scalar(element_type(in_single, is_complex(element)),
                     [&]<class T>() { return SolvePlanner<T>(system, options, config, kernels).plan(); });
}

std::optional<std::string> notice_of_long_run(const LinearSystem& system, const SolveOptions& options,
                                              const Config& config, const linalg::Kernels& kernels,
                                              double core_gflops) {
  constexpr double long_seconds = 60, perhaps_long_seconds = 20;
  if (system.factors != nullptr || system.of_points() || options.factor == FactorPrecision::tf32) return {};
  if (config.text_or("devices", "none") != "none") return {};
  const DenseProblem problem = system.problem(*options.method);
  const auto workers = config.count_or("workers", machine::discover().workers);
  if (problem.operation->flops(problem) <
      perhaps_long_seconds * core_gflops * 1e9 * static_cast<double>(workers))
    return {};
  try {
    const linalg::SolvePlan plan = plan_solve(system, options, config, kernels);
    if (plan.seconds < long_seconds) return {};
    return "expected time: " + time_text(plan);
  } catch (const Error&) {
    return {};  // the run itself reports it
  }
}

}  // namespace fairlead::solver
