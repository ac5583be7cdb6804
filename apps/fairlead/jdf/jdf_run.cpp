// fairlead jdf run: the tasks of a JDF file on matrices from files, in core or out of core, on one rank or
// several; their bodies are interpreted.
#include <fairlead/error.hpp>
#include <fairlead/gather.hpp>
#include <fairlead/linalg.hpp>
#include <fairlead/ptg.hpp>
#include <fairlead/runtime.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "algorithms/linalg/general_reader.hpp"
#include "algorithms/linalg/scratch_pool.hpp"
#include "base/shared_file.hpp"
#include "data/npy/npy_writer.hpp"
#include "fairlead/jdf/jdf_errors.hpp"
#include "fairlead/jdf/jdf_in_c.hpp"
#include "fairlead/jdf/jdf_matrices.hpp"
#include "fairlead/problem/dense_report.hpp"
#include "fairlead/problem/kernel_environment.hpp"
#include "fairlead/ranks/command_ranks.hpp"
#include "fairlead/ranks/input_files.hpp"
#include "fairlead/ranks/ranks_report.hpp"
#include "fairlead/run/distinct_files.hpp"
#include "fairlead/run/interrupt.hpp"
#include "fairlead/run/watched_run.hpp"
#include "fairlead/subcommand.hpp"
#include "front/jdf/emit_bodies.hpp"
#include "front/jdf/unroll.hpp"
#include "front/jdf_graph/codelets.hpp"
#include "front/jdf_graph/known_outputs.hpp"
#include "front/ptg/describe_stall.hpp"
#include "front/unrolled/check.hpp"
#include "front/unrolled/ranks.hpp"
#include "machine/machine.hpp"
#include "net/termination_detection.hpp"

namespace fairlead::app {

using solver::alike;
using solver::DenseOperation;
using solver::least_of_ranks;

namespace {

using data::ElementType;
using linalg::GeneralReader;
template <class T>
using TiledMatrices = std::vector<TiledMatrix<T>>;

constexpr auto options = both(
    std::to_array<Setting>(
        {{.key = "matrix",
          .value_name = "NAME=FILE.npy",
          .help = "file of the matrix NAME, or descNAME; NAME=M,N,MB,NB: M x N zeros in tiles of MB x NB; "
                  "repeatable",
          .repeatable = true},
         {.key = "set",
          .value_name = "NAME=VALUE",
          .help = "value of a global, or of a member of what it points to: --set alpha=0.5; repeatable",
          .repeatable = true},
         {.key = "output",
          .value_name = "NAME=FILE.npy",
          .help = "file for that matrix after the run; each is written completely or not at all; repeatable",
          .letter = 'o',
          .repeatable = true},
         {.key = "tiles",
          .value_name = "[NAME=]ROWSxCOLUMNS",
          .help = "tiles that are not square, of that matrix or of all matrices in files; repeatable",
          .advanced = true,
          .repeatable = true},
         type_setting,
         {.key = "precision",
          .type = SettingType::choice,
          .default_value = "double",
          .choices = "single|double",
          .help = "precision of matrices without a file",
          .advanced = true},
         {.key = "check",
          .type = SettingType::flag,
          .default_value = "true",
          .help = "before the run, check all edges of up to 100,000 tasks, as `fairlead jdf check` does, and "
                  "samples of larger graphs",
          .advanced = true},
         {.key = "overwrite",
          .type = SettingType::flag,
          .default_value = "false",
          .help = "an output may replace a file that is read",
          .advanced = true},
         allow_c_setting}),
    both(rank_options, report_options));
constexpr Positional positionals[] = {{.name = "FILE", .help = "a .jdf file"}};

double no_flops(const DenseProblem&) { return 0; }
std::uint64_t no_tasks(const DenseProblem&) { return 0; }
report::IoBounds bounds_of(const DenseProblem& p) {
  return report::in_place_bounds(static_cast<std::uint64_t>(p.rows()), static_cast<std::uint64_t>(p.n),
                                 p.element_bytes(), p.memory_limit);
}
constexpr DenseOperation graph_operation{.key = "jdf",
                                         .name = "task graph",
                                         .tiles = Tiles::all,
                                         .matrices = 1,
                                         .kernels = linalg::RateSet::product,
                                         .flops = no_flops,
                                         .tasks = no_tasks,
                                         .bounds = bounds_of,
                                         .ceiling = nullptr};

std::string no_graph(const jdf::RunnableJdf& program) {
  return fmt::format("{} cannot run with these sizes; --no-check tries it anyway",
                     program.file.source.name());
}

/// Nothing for a graph that is too large. Throws InputError if the graph is invalid for these sizes.
std::optional<jdf::KnownOutputs> looked_at(const jdf::RunnableJdf& program, const CommandRanks& ranks) {
  std::optional<jdf::UnrolledGraph> unrolled;
  try {
    // A graph with that many tasks is unrolled and checked in less than a second.
    jdf::UnrollOptions limits{.tasks = 100'000, .ends = 1'000'000, .steps = 20'000'000};
    limits.placements = !ranks.alone();
    limits.types = program.types;
    unrolled = jdf::unroll(program.file, program.settings, limits);
  } catch (const InputError&) {
    return std::nullopt;
  }
  unrolled::CheckResult checked = unrolled::check(unrolled->graph);
  if (!ranks.alone()) unrolled::check_placement(unrolled->graph, ranks.grid(), checked.findings);
  if (checked.findings.errors() != 0) {
    if (ranks.first()) fmt::print(stderr, "{}", checked.findings.text());
    throw InputError(no_graph(program));
  }
  jdf::require_initial_inputs(unrolled->graph, checked.steps);
  return jdf::known_outputs(unrolled->graph);
}

/// The parameters of a run that all ranks share.
struct JdfTask {
  Config config;
  std::shared_ptr<jdf::RunnableJdf> program;
  std::vector<MatrixGiven> given;
  std::size_t workers = 0;
  DenseProblem problem{};
  jdf::KnownOutputs known{};
  bool too_large = false;                 ///< to be checked as a whole: samples are checked
  std::shared_ptr<jdf::CLibrary> in_c{};  // null: no C
  std::optional<linalg::Kernels> kernels{};
};

DenseProblem problem_of(const JdfTask& task, std::uint32_t ranks) {
  const MatrixGiven* largest = nullptr;
  std::int32_t tile = 0;
  for (const MatrixGiven& it : task.given) {
    if (largest == nullptr || it.rows * it.columns > largest->rows * largest->columns) largest = &it;
    tile = std::max({tile, it.tile.rows, it.tile.columns});
  }
  DenseProblem problem{.operation = &graph_operation,
                       .title = "task graph",
                       .n = largest->columns,
                       .m = largest->rows == largest->columns ? 0 : largest->rows,
                       .element = element_type(largest->in_single, false),
                       .memory_limit = task.config.bytes("memory"),
                       .reserved = task.workers * GeneralReader<double>::scratch_bytes_per_worker,
                       .ranks = ranks};
  if (tile != 0 && !task.config.has("tile"))
    problem.tile = tile;
  else
    problem.set_tile(task.config, task.workers);
  return problem;
}

std::vector<std::string> libraries_of(const linalg::Kernels& kernels) {
  std::vector<std::string> out{kernels.blas().path()};
  if (kernels.blas().lapack_path() != out[0]) out.push_back(kernels.blas().lapack_path());
  return out;
}

/// Chooses tiles, builds C, and checks the graph, the same on all processes.
void prepare(JdfTask& task, CommandRanks& ranks) {
  const std::vector<double> tiles = ranks.together(task.config, [&] {
    task.problem = problem_of(task, ranks.count());
    return static_cast<double>(task.problem.tile);
  });
  task.problem.tile = static_cast<std::int32_t>(*std::ranges::min_element(tiles));
  for (MatrixGiven& it : task.given)
    if (it.tile == TileSize(0)) it.tile = task.problem.tile;
  ranks.together(task.config, [&] {
    settle(*task.program, task.given, task.config);
    task.program->types = types_given(task.program->file, task.config);
    if (task.config.flag("allow-c")) {
      task.kernels.emplace(
          solver::load_kernels(task.config, kernel_environment()));  // C may call what they call
      task.in_c = allow_c_bodies(*task.program, libraries_of(*task.kernels));
    }
    jdf::require_values(*task.program);
    if (task.config.flag("check")) {
      const std::optional<jdf::KnownOutputs> known = looked_at(*task.program, ranks);
      task.too_large = !known;
      if (known) task.known = *known;
    }
    return 0.0;
  });
  if (!task.kernels) task.kernels.emplace(solver::load_kernels(task.config, kernel_environment()));
}

/// The results of one rank.
struct JdfRunHere {
  report::RunReport report;
  std::vector<trace::Snapshot> recorded;  ///< as WatchedRun::recorded()
  std::vector<std::int32_t> pointed;      ///< values that globals point to, by global
};

/// A run in progress, on one rank or as one of several.
class JdfRun {
 public:
  JdfRun(const JdfTask& task, const GridRank& place)
      : config_(task.config),
        program_(task.program),
        given_(task.given),
        problem_(task.problem),
        known_(task.known),
        too_large_(task.too_large),
        in_c_(task.in_c),
        kernels_(*task.kernels),
        place_(place) {}

  JdfRunHere run() {
    run_.emplace(config_, problem_.reserved, kernels_, Front::flow, place_.rank);
    report::RunReport report = run_->report_failure_of([this] { return computed(); });
    run_.reset();
    return {std::move(report), std::move(recorded_), std::move(pointed_)};
  }

 private:
  report::RunReport computed() {
    if (place_.first()) open_outputs();
    const RunCounters before = counters_of(run_->runtime(), kernels_);
    std::vector<jdf::BoundData> data(program_->file.globals.size());
    ptg::Graph graph(run_->runtime());
    for (const MatrixGiven& it : given_)
      it.in_single ? add<float>(it, data, graph) : add<double>(it, data, graph);
    read();
    const RunCounters tiled = counters_of(run_->runtime(), kernels_);
    jdf::GraphBuilder maker = jdf::builder_for(graph, program_, kernels_, in_c_, data);
    maker.on_progress = [] {
      if (const int signal = Interrupt::signal(); signal != 0) throw Interrupted{signal};
    };
    const jdf::LoweredGraph lowered = jdf::lower(program_, data, known_, maker);
    if (too_large_) look_at_some(graph);
    for (const std::string& note : lowered.notes) run_->print_line("fairlead: " + note);
    run_->begin("tasks");
    try {
      run_->run(graph);
    } catch (const Error&) {
      throw_of_graph(program_->file.source.name());
    }
    const double seconds = run_->end();
    seconds_ += seconds;
    const RunCounters after = counters_of(run_->runtime(), kernels_);
    try {
      read_pointed();
      write();
    } catch (const RankError& error) {
      // This rank had finished the graph when others got stuck in it, so the error that it received lacks the
      // edge.
      if (std::string_view(error.what()).find(net::TerminationDetector::no_progress) ==
          std::string_view::npos)
        throw;
      throw RankError(error.what() +
                      ptg::describe_stall(ptg::make_class_table(graph.definitions()), nullptr, {}));
    }
    run_->remove_progress();
    recorded_ = run_->collect_traces();

    report::RunReport report = report_between(before, after, config_, kernels_, problem_);
    report.seconds = seconds_;
    report.phases = run_->phases();
    report.not_written = run_->end_records();
    if (place_.alone()) find_limit(report, tiled, after);
    report.bounds = bounds();
    for (const MatrixGiven& it : given_) {
      if (it.file == nullptr) continue;
      report::LinkReport link{.name = std::filesystem::path(it.file->name()).filename().string()};
      link.from_home[static_cast<std::size_t>(memory::Cause::demand)] = {it.file->bytes_read(), 1};
      report.links.push_back(link);
      report.input_bytes += it.file->data_bytes();
      report.input_bytes_read += it.file->bytes_read();
    }
    report.of = program_->file.source.name();
    const double gflop = all_gflop(report);
    combine_ranks(report, run_->runtime(), place_, before, after, problem_.reserved, recorded_.front());
    report.gflops = gflop / report.seconds;
    return report;
  }

  /// Checks samples of a graph that is not unrolled. Throws InputError if it is invalid.
  void look_at_some(const ptg::Graph& graph) {
    constexpr std::uint64_t tasks_of_a_class = 256;
    const ptg::EdgeSample checked =
        ptg::sample_edges(ptg::make_class_table(graph.definitions()), tasks_of_a_class);
    if (checked.errors == 0) return;
    if (place_.first()) run_->print_line(checked.text.substr(0, checked.text.size() - 1));
    throw InputError(no_graph(*program_));
  }

  /// Of all processes.
  double all_gflop(const report::RunReport& report) {
    double own[] = {0};
    if (place_.first() || !place_.rank.in_process())
      for (const report::KernelReport& it : report.kernel_calls) own[0] += it.gflop;
    double sum = 0;
    for (const double one : of_ranks(own)) sum += one;
    return sum;
  }

  /// The numbers of all ranks.
  std::vector<double> of_ranks(std::span<const double> own) {
    return place_.alone() ? std::vector<double>(own.begin(), own.end()) : gather(run_->runtime(), own);
  }

  /// Each process has its own: of several that are not 0, the first rank's counts.
  void read_pointed() {
    std::vector<double> own;
    for (const auto& it : program_->pointed) own.push_back(it.load());
    if (own.empty()) return;
    const std::vector<double> all = of_ranks(own);
    pointed_.resize(own.size());
    for (std::size_t i = 0; i < all.size(); ++i)
      if (std::int32_t& one = pointed_[i % own.size()]; one == 0) one = static_cast<std::int32_t>(all[i]);
  }

  /// The algorithm is unknown, so the bound counts every byte once.
  report::IoBounds bounds() const {
    report::IoBounds all;
    for (const MatrixGiven& it : given_) {
      const Bytes bytes = static_cast<Bytes>(it.rows) * static_cast<Bytes>(it.columns) *
                          (it.in_single ? sizeof(float) : sizeof(double));
      if (it.file != nullptr) all.inputs += bytes;
      if (!it.output.empty()) all.results += bytes;
    }
    all.compulsory = all.inputs;
    all.fits = all.inputs + problem_.reserved <= problem_.memory_limit;
    return all;
  }

  void open_outputs() {
    for (const MatrixGiven& it : given_) {
      if (it.output.empty()) continue;
      std::vector<std::uint64_t> shape{static_cast<std::uint64_t>(it.rows),
                                       static_cast<std::uint64_t>(it.columns)};
      data::StorageOrder order = data::StorageOrder::c;
      if (it.file != nullptr) {
        shape = it.file->shape();
        order = it.file->order();
      }
      Interrupt::removes_at_exit([&] {
        outputs_.push_back(std::make_shared<data::NpyWriter>(
            it.output, it.in_single ? ElementType::float32 : ElementType::float64, order, shape));
        std::vector<std::filesystem::path> made;
        for (const auto& output : outputs_) made.push_back(output->temporary());
        return made;
      });
    }
  }

  template <class T>
  TiledMatrices<T>& tiled() {
    return std::get<TiledMatrices<T>>(tiled_);
  }

  template <class T>
  void add(const MatrixGiven& it, std::vector<jdf::BoundData>& data, ptg::Graph& graph) {
    Runtime& runtime = run_->runtime();
    const auto zeros = generated_by([](TileView<T> piece, std::int64_t, std::int64_t) {
      for (std::int32_t j = 0; j < piece.columns(); ++j)
        std::fill_n(piece.data() + static_cast<std::ptrdiff_t>(j) * piece.leading_dimension(), piece.rows(),
                    T(0));
    });
    tiled<T>().push_back(it.file != nullptr
                             ? place_.tiled<T>(runtime, it.name, it.rows, it.columns, it.tile)
                             : place_.generated<T>(runtime, it.name, it.rows, it.columns, it.tile, zeros));
    const TiledMatrix<T>& tiles = tiled<T>().back();
    const jdf::TilePrecision precision =
        it.in_single ? jdf::TilePrecision::single : jdf::TilePrecision::double_;
    if (program_->file.globals[it.global].dimensions != 1) {
      data[it.global] = {graph.data(tiles, it.name).definition(), precision, it.tile};
      return;
    }
    if (tiles.tile_columns() != 1)
      throw InputError(
          fmt::format("{0} is named with one index, and has {1} columns of tiles: give a vector, or one "
                      "column of tiles",
                      it.name, tiles.tile_columns()));
    data[it.global] = {graph
                           .data<Tile<T>>(
                               it.name, {tiles.tile_rows()},
                               [&](const std::int64_t* at) {
                                 return tiles.here_or_not(static_cast<std::int32_t>(at[0]), 0);
                               },
                               tiles.distribution())
                           .definition(),
                       precision, it.tile};
  }

  /// Calls f(what was given, its tiles) for each matrix.
  template <class F>
  void each_matrix(const F& f) {
    std::size_t in_single = 0, in_double = 0;
    for (const MatrixGiven& it : given_)
      it.in_single ? f(it, tiled<float>()[in_single++]) : f(it, tiled<double>()[in_double++]);
  }

  void read() {
    const Bytes memory = least_of_ranks(run_->runtime(), run_->runtime().capacity_bytes());
    each_matrix([&]<class T>(const MatrixGiven& it, const TiledMatrix<T>& tiles) {
      if (it.file == nullptr) return;
      const auto kept = std::make_shared<GeneralReader<T>>(it.file);
      readers_.push_back(kept);
      GeneralReader<T>& reader = *kept;
      const linalg::ReadingRanks readers = place_.reading_ranks([this] { run_->wait(); });
      run_->begin("reading", reader.tasks(tiles, memory, readers.root_reads_all));
      reader.submit(run_->flow(), tiles, memory, readers);
      seconds_ += run_->end();
      readers_.clear();
      it.file->forget_pages();
    });
  }

  /// The first rank writes the data of all ranks.
  void write() {
    // Shared with tasks that may outlive an exception.
    const auto staging =
        std::make_shared<linalg::ScratchPool>(GeneralReader<double>::scratch_bytes_per_worker);
    auto next = outputs_.begin();
    each_matrix([&]<class T>(const MatrixGiven& it, const TiledMatrix<T>& tiles) {
      if (it.output.empty()) return;
      const std::shared_ptr<data::NpyWriter> out = place_.first() ? *next++ : nullptr;
      const auto leave = codelet("write").cpu([out, staging](In<Tile<T>> tile, std::int64_t row,
                                                             std::int64_t column) {
        const auto lease = staging->lease();
        out->write_block<T>(static_cast<std::uint64_t>(row), static_cast<std::uint64_t>(tile.rows()),
                            static_cast<std::uint64_t>(column), static_cast<std::uint64_t>(tile.columns()),
                            tile.data(), static_cast<std::uint64_t>(tile.leading_dimension()), lease.bytes());
      });
      const std::uint64_t tasks =
          static_cast<std::uint64_t>(tiles.tile_rows()) * static_cast<std::uint64_t>(tiles.tile_columns());
      run_->begin("writing", tasks * place_.count());  // all of them here
      const TileSize size = tiles.tile_size();
      for (std::int32_t i = 0; i < tiles.tile_rows(); ++i)
        for (std::int32_t j = 0; j < tiles.tile_columns(); ++j) {
          auto task = leave(tiles(i, j), std::int64_t{i} * size.rows, std::int64_t{j} * size.columns);
          if (place_.alone()) {
            run_->flow().submit(std::move(task));
            continue;
          }
          run_->flow().submit(std::move(task).on_rank(0));
          run_->flow().drop_copies(tiles(i, j));
        }
      seconds_ += run_->end();
    });
    run_->hand_over_to_first_rank();
    if (outputs_.empty()) return;
    Interrupt::finish([&] {
      for (const auto& out : outputs_) out->commit();
    });
  }

  const Config& config_;
  const std::shared_ptr<jdf::RunnableJdf>& program_;
  const std::vector<MatrixGiven>& given_;
  const DenseProblem& problem_;
  const jdf::KnownOutputs& known_;
  const bool too_large_;
  const std::shared_ptr<jdf::CLibrary>& in_c_;
  const linalg::Kernels& kernels_;
  const GridRank& place_;
  double seconds_ = 0;
  std::vector<trace::Snapshot> recorded_;
  std::vector<std::int32_t> pointed_;
  // Declared before the matrices: after an exception, tasks that use a reader run until these are destroyed.
  std::vector<std::shared_ptr<void>> readers_;
  std::optional<WatchedRun> run_;
  std::tuple<TiledMatrices<float>, TiledMatrices<double>> tiled_;
  std::vector<std::shared_ptr<data::NpyWriter>> outputs_;  // destroyed first, while signals are handled
};

/// All processes have the same file, or all throw.
jdf::SourceFile graph_of(const std::string& path, const Config& config, CommandRanks& ranks) {
  std::optional<jdf::SourceFile> source;
  const std::vector<double> hashes = ranks.together(config, [&] {
    source = jdf::SourceFile::read(path);
    return static_cast<double>(text_hash(source->text()) >> 16);
  });
  for (std::size_t r = 1; r < hashes.size(); ++r)
    if (hashes[r] != hashes[0])
      alike(ranks.first(),
            [&] { throw InputError(fmt::format("{} differs between rank {} and rank 0", path, r)); });
  return *std::move(source);
}

int run_on(CommandRanks& ranks, const ParsedCommandLine& given) {
  Config config = given.config;
  if (config.has("record-flow"))
    throw ConfigError("--record-flow records flows only: use `fairlead simulate jdf` for this file");
  const auto program =
      read_program(graph_of(given.positionals[0], config, ranks),
                   config.flag("allow-c") ? Bodies::may_be_c : Bodies::interpreted, ranks.first());
  if (program == nullptr) return failure;
  if (config.flag("allow-c") && ranks.first())
    for (const std::string& note : jdf::omission_notes(program->file)) fmt::print(stderr, "{}\n", note);
  bool same = true;
  std::vector<MatrixGiven> matrices =
      matrices_given(program->file, config, config.text("precision") == "single",
                     [&](const std::vector<std::string>& paths) {
                       InputFiles files = open_input_files(ranks, config, paths);
                       same = files.same;
                       return std::move(files.files);
                     });
  if (!same) ranks.set_readers(1);
  set_tiles(program->file, config, matrices);
  add_outputs(program->file, config, matrices);
  alike(ranks.first(), [&] { require_all_given(program->file, matrices); });
  if (matrices.empty()) throw ConfigError("no --matrix is given: there is nothing to work on");
  std::vector<NamedFile> inputs{{"the graph", given.positionals[0]}}, outputs;
  for (const MatrixGiven& it : matrices) {
    if (it.file != nullptr) inputs.push_back({"--matrix", it.file->name()});
    if (!it.output.empty()) outputs.push_back({"-o", it.output, config.flag("overwrite")});
  }
  require_distinct_files(config, inputs, outputs);
  check_scheduler(config);
  apply_quiet(config);
  if (!config.has("memory"))
    config.set("memory", machine::discover().memory.usable_bytes() / ranks.on_machine());
  if (ranks.first()) require_place_for_report(config);
  if (!ranks.alone()) set_workers_of_ranks(config, ranks);
  const std::size_t workers = config.count_or("workers", machine::discover().workers);
  JdfTask task{std::move(config), program, std::move(matrices), workers};
  prepare(task, ranks);
  const JdfRunHere here = ranks.results([&](const GridRank& place) { return JdfRun(task, place).run(); });
  if (!ranks.first()) return success;
  for (std::size_t i = 0; i < here.pointed.size(); ++i)
    if (here.pointed[i] != 0) fmt::print("{} is {}\n", program->file.globals[i].name.text, here.pointed[i]);
  publish(here.report, task.config, here.recorded);
  return success;
}

int run(const ParsedCommandLine& given) {
  return on_ranks(given.config, [&](CommandRanks& ranks) { return run_on(ranks, given); });
}

constexpr std::string_view files_of_results[] = {"output"};

}  // namespace

const Subcommand jdf_run_command{.name = "jdf run",
                                 .summary = "Runs a task graph in the language JDF on matrices from files.",
                                 .positionals = positionals,
                                 .options = options,
                                 .run = run,
                                 .files_of_results = files_of_results,
                                 .over_ranks = true};

}  // namespace fairlead::app
