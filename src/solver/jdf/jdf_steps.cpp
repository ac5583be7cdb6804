// See jdf_steps.hpp.
#include "solver/jdf/jdf_steps.hpp"

#include <fairlead/error.hpp>
#include <fairlead/gather.hpp>
#include <fairlead/ptg.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <string_view>
#include <tuple>
#include <utility>

#include "algorithms/linalg/general_reader.hpp"
#include "algorithms/linalg/scratch_pool.hpp"
#include "front/jdf_graph/codelets.hpp"
#include "front/ptg/describe_stall.hpp"
#include "memory/admission.hpp"
#include "net/termination_detection.hpp"
#include "solver/jdf/jdf_checkpoint.hpp"

namespace fairlead::solver {

namespace {

using linalg::GeneralReader;

double no_flops(const DenseProblem&) { return 0; }
std::uint64_t no_tasks(const DenseProblem&) { return 0; }
report::IoBounds bounds_of_largest(const DenseProblem& p) {
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
                                         .bounds = bounds_of_largest,
                                         .ceiling = nullptr};

/// Rethrows the current exception: an error of the graph gets the file's name, if it lacks that.
[[noreturn]] void throw_of_graph(const std::string& file) {
  try {
    throw;
  } catch (const UsageError& error) {
    const std::string what = error.what();
    if (what.find(file) != std::string::npos) throw;
    throw UsageError(file + ": " + what);
  } catch (const Error& error) {
    if (std::string_view(error.what()).find(memory::Admitter::in_order) == std::string_view::npos) throw;
    throw UsageError(
        file +
        ": a task changes data that another task uses at the same time: no edge orders the two. `fairlead "
        "jdf check` names such tasks; for a large graph, give it smaller sizes");
  }
}

/// The numbers of all ranks.
std::vector<double> of_ranks(Runtime& runtime, std::span<const double> own) {
  return runtime.ranks() == 1 ? std::vector<double>(own.begin(), own.end()) : gather(runtime, own);
}

}  // namespace

DenseProblem jdf_problem(std::span<const JdfMatrix> matrices, const Config& config, std::size_t workers,
                         std::uint32_t ranks) {
  const JdfMatrix* largest = &matrices.front();
  std::int32_t tile = 0;
  for (const JdfMatrix& it : matrices) {
    if (it.rows * it.columns > largest->rows * largest->columns) largest = &it;
    tile = std::max({tile, it.tile.rows, it.tile.columns});
  }
  DenseProblem problem{.operation = &graph_operation,
                       .title = "task graph",
                       .n = largest->columns,
                       .m = largest->rows == largest->columns ? 0 : largest->rows,
                       .element = element_type(largest->in_single, false),
                       .memory_limit = config.bytes("memory"),
                       .reserved = workers * GeneralReader<double>::scratch_bytes_per_worker,
                       .ranks = ranks};
  if (tile != 0 && !config.has("tile"))
    problem.tile = tile;
  else
    problem.set_tile(config, workers);
  return problem;
}

std::shared_ptr<data::NpyWriter> make_output(const JdfMatrix& matrix) {
  std::vector<std::uint64_t> shape{static_cast<std::uint64_t>(matrix.rows),
                                   static_cast<std::uint64_t>(matrix.columns)};
  data::StorageOrder order = data::StorageOrder::c;
  if (matrix.file != nullptr) {
    shape = matrix.file->shape();
    order = matrix.file->order();
  }
  return std::make_shared<data::NpyWriter>(
      matrix.output, matrix.in_single ? ElementType::float32 : ElementType::float64, order, shape);
}

void add_matrices(report::RunReport& report, std::span<const JdfMatrix> matrices,
                  const DenseProblem& problem) {
  report::IoBounds all;
  for (const JdfMatrix& it : matrices) {
    if (!it.output.empty()) all.results += it.bytes();
    if (it.file == nullptr) continue;
    all.inputs += it.bytes();
    report::LinkReport link{.name = std::filesystem::path(it.file->name()).filename().string()};
    link.from_home[static_cast<std::size_t>(memory::Cause::demand)] = {it.file->bytes_read(), 1};
    report.links.push_back(link);
    report.input_bytes += it.file->data_bytes();
    report.input_bytes_read += it.file->bytes_read();
  }
  all.compulsory = all.inputs;
  all.fits = all.inputs + problem.reserved <= problem.memory_limit;
  report.bounds = all;
}

/// The tiles of the matrices, by precision, and what the graph binds to globals.
struct JdfSteps::Matrices {
  explicit Matrices(const JdfSteps& steps) : data(steps.program_->file.globals.size()), steps_(steps) {}

  /// Makes the tiles, and adds them to the graph.
  void add_to(ptg::Graph& graph, Runtime& runtime) {
    // The graph refers to them.
    tiled<float>().reserve(steps_.given_.size());
    tiled<double>().reserve(steps_.given_.size());
    for (const JdfMatrix& it : steps_.given_)
      it.in_single ? add<float>(it, runtime, graph) : add<double>(it, runtime, graph);
  }

  /// Calls f(the matrix, its tiles) for each matrix.
  template <class F>
  void each(const F& f) {
    std::size_t in_single = 0, in_double = 0;
    for (const JdfMatrix& it : steps_.given_)
      it.in_single ? f(it, tiled<float>()[in_single++]) : f(it, tiled<double>()[in_double++]);
  }

  std::vector<jdf::BoundData> data;

 private:
  template <class T>
  std::vector<TiledMatrix<T>>& tiled() {
    return std::get<std::vector<TiledMatrix<T>>>(tiled_);
  }

  template <class T>
  void add(const JdfMatrix& it, Runtime& runtime, ptg::Graph& graph) {
    const GridRank& place = steps_.place_;
    const auto zeros = generated_by([](TileView<T> piece, std::int64_t, std::int64_t) {
      for (std::int32_t j = 0; j < piece.columns(); ++j)
        std::fill_n(piece.data() + static_cast<std::ptrdiff_t>(j) * piece.leading_dimension(), piece.rows(),
                    T(0));
    });
    tiled<T>().push_back(it.file != nullptr
                             ? place.tiled<T>(runtime, it.name, it.rows, it.columns, it.tile)
                             : place.generated<T>(runtime, it.name, it.rows, it.columns, it.tile, zeros));
    const TiledMatrix<T>& tiles = tiled<T>().back();
    const jdf::TilePrecision precision =
        it.in_single ? jdf::TilePrecision::single : jdf::TilePrecision::double_;
    if (steps_.program_->file.globals[it.global].dimensions != 1) {
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
                               [&tiles](const std::int64_t* at) {
                                 return tiles.here_or_not(static_cast<std::int32_t>(at[0]), 0);
                               },
                               tiles.distribution())
                           .definition(),
                       precision, it.tile};
  }

  const JdfSteps& steps_;
  std::tuple<std::vector<TiledMatrix<float>>, std::vector<TiledMatrix<double>>> tiled_;
};

JdfSteps::JdfSteps(std::shared_ptr<jdf::RunnableJdf> program, std::span<const JdfMatrix> matrices,
                   const linalg::Kernels& kernels, const GridRank& place, JdfRunOptions options)
    : program_(std::move(program)),
      given_(matrices),
      kernels_(kernels),
      place_(place),
      options_(std::move(options)) {}

void JdfSteps::run(Execution& run, std::span<const std::shared_ptr<data::NpyWriter>> outputs,
                   const std::function<void()>& last) {
  run.reached(Milestone::started);
  Matrices matrices(*this);  // outlives the graph
  ptg::Graph graph(run.runtime());
  matrices.add_to(graph, run.runtime());
  read(run, matrices);
  run.reached(Milestone::tiled);
  compute(run, graph, matrices.data);
  run.reached(Milestone::solved);
  try {
    read_pointed(run);
    write(run, matrices, outputs);
    last();
  } catch (const RankError& error) {
    // This rank had finished the graph when others got stuck in it, so the error that it received lacks the
    // edge.
    if (std::string_view(error.what()).find(net::TerminationDetector::no_progress) == std::string_view::npos)
      throw;
    throw RankError(error.what() +
                    ptg::describe_stall(ptg::make_class_table(graph.definitions()), nullptr, {}));
  }
}

void JdfSteps::read(Execution& run, Matrices& matrices) {
  const Bytes memory = least_of_ranks(run.runtime(), run.runtime().capacity_bytes());
  matrices.each([&]<class T>(const JdfMatrix& it, const TiledMatrix<T>& tiles) {
    if (it.file == nullptr) return;
    const auto kept = std::make_shared<GeneralReader<T>>(it.file);
    readers_.push_back(kept);
    const linalg::ReadingRanks readers = place_.reading_ranks([&run] { run.wait(); });
    run.begin("reading", kept->tasks(tiles, memory, readers.root_reads_all));
    kept->submit(run.flow(), tiles, memory, readers);
    seconds_ += run.end();
    readers_.clear();
    it.file->forget_pages();
  });
}

void JdfSteps::compute(Execution& run, ptg::Graph& graph, std::span<const jdf::BoundData> data) {
  jdf::GraphBuilder maker = jdf::builder_for(graph, program_, kernels_, options_.in_c, data);
  maker.on_progress = options_.on_progress;
  const jdf::LoweredGraph lowered = jdf::lower(program_, data, options_.known, maker);
  if (options_.check_samples) check_samples(graph);
  for (const std::string& note : lowered.notes) run.warn(note);
  try {
    if (options_.checkpoint.empty()) {
      run.begin("tasks");
      run.run(graph);
    } else {
      compute_with_checkpoints(run, graph);
    }
  } catch (const Error&) {
    throw_of_graph(program_->file.source.name());
  }
  seconds_ += run.end();
}

void JdfSteps::compute_with_checkpoints(Execution& run, ptg::Graph& graph) const {
  const std::uint64_t tasks = graph.tasks(),
                      finished = run.flow().use_checkpoints(options_.checkpoint, state_of(program_));
  if (finished != 0)
    run.note(fmt::format("{} of {} tasks of the graph are finished in the checkpoint", finished, tasks));
  run.begin("tasks", tasks);
  graph.submit(run.flow());
  run.wait();
}

void JdfSteps::check_samples(const ptg::Graph& graph) const {
  constexpr std::uint64_t tasks_of_a_class = 256;
  const ptg::EdgeSample checked =
      ptg::sample_edges(ptg::make_class_table(graph.definitions()), tasks_of_a_class);
  if (checked.errors == 0) return;
  options_.errors(checked.text);
  throw InputError(fmt::format("{} cannot run with these sizes", program_->file.source.name()));
}

void JdfSteps::read_pointed(Execution& run) {
  std::vector<double> own;
  for (const auto& it : program_->pointed) own.push_back(it.load());
  if (own.empty()) return;
  const std::vector<double> all = of_ranks(run.runtime(), own);
  pointed_.resize(own.size());
  for (std::size_t i = 0; i < all.size(); ++i)
    if (std::int32_t& one = pointed_[i % own.size()]; one == 0) one = static_cast<std::int32_t>(all[i]);
}

/// The first rank writes the data of all ranks.
void JdfSteps::write(Execution& run, Matrices& matrices,
                     std::span<const std::shared_ptr<data::NpyWriter>> outputs) {
  // Shared with tasks that may outlive an exception.
  const auto staging = std::make_shared<linalg::ScratchPool>(GeneralReader<double>::scratch_bytes_per_worker);
  auto next = outputs.begin();
  matrices.each([&]<class T>(const JdfMatrix& it, const TiledMatrix<T>& tiles) {
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
    run.begin("writing", tasks * place_.count());  // all of them here
    const TileSize size = tiles.tile_size();
    for (std::int32_t i = 0; i < tiles.tile_rows(); ++i)
      for (std::int32_t j = 0; j < tiles.tile_columns(); ++j) {
        auto task = leave(tiles(i, j), std::int64_t{i} * size.rows, std::int64_t{j} * size.columns);
        if (place_.alone()) {
          run.flow().submit(std::move(task));
          continue;
        }
        run.flow().submit(std::move(task).on_rank(0));
        run.flow().drop_copies(tiles(i, j));
      }
    seconds_ += run.end();
  });
}

}  // namespace fairlead::solver
