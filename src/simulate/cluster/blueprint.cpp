// See blueprint.hpp.
#include "simulate/cluster/blueprint.hpp"

#include <fairlead/error.hpp>
#include <fairlead/fairlead.hpp>

#include <fmt/format.h>

#include <algorithm>

#include "config/value.hpp"

namespace fairlead::simulate {

std::optional<CyclicMap> grid_in(std::string_view text) {
  constexpr std::int32_t most_ranks = 4096;
  const auto grid = config::parse_grid(text);
  if (!grid || (*grid)[0] > most_ranks || (*grid)[1] > most_ranks / (*grid)[0]) return std::nullopt;
  return CyclicMap{.rank_rows = (*grid)[0], .rank_columns = (*grid)[1]};
}

Blueprint::Matrix::Matrix(RankMatrix of) : of_(std::move(of)) {
  std::vector<std::uint32_t> owners;
  for (std::size_t i = 0; i < positions(); ++i) owners.push_back(tile(i).owner);
  owners_ = ptg::Owners(std::move(owners));
}

Blueprint::Tile Blueprint::Matrix::tile(std::size_t position) const {
  const auto row = static_cast<std::int32_t>(position % static_cast<std::size_t>(of_.rows));
  const auto column = static_cast<std::int32_t>(position / static_cast<std::size_t>(of_.rows));
  Tile tile{row, column, of_.owner(row, column), 0, 0};
  if (of_.lower && column > row) return tile;
  tile.rows = of_.height(row);
  tile.columns = of_.width(column);
  return tile;
}

Bytes Blueprint::Matrix::largest(Precision precision) const {
  Tile tile{0, 0, 0, 0, 0};
  for (std::int32_t row = 0; row < of_.rows; ++row) tile.rows = std::max(tile.rows, of_.height(row));
  for (std::int32_t column = 0; column < of_.columns; ++column)
    tile.columns = std::max(tile.columns, of_.width(column));
  return tile.bytes(precision);
}

Blueprint::Blueprint(std::string_view workload, const WorkloadSize& size, const CyclicMap& grid)
    : size_(size), grid_(grid) {
  RankGraph of = make_rank_graph(workload, size, grid);
  // Classes depend neither on the contents of tiles nor on their owners: here another rank owns all of them, and each
  // has one element.
  Config config;
  config.set("workers", 1);
  config.set("memory", "64MiB");
  config.set("bind-threads", false);
  Runtime runtime(config);
  std::vector<TiledMatrix<double>> matrices;
  for (const RankMatrix& it : of.matrices) {
    const Distribution elsewhere([](std::int32_t, std::int32_t) { return 1u; });
    matrices.push_back(runtime.tiled<double>(it.name, it.rows, it.columns, 1, elsewhere,
                                             it.lower ? fairlead::Tiles::lower : fairlead::Tiles::all));
  }
  ptg::Graph graph(runtime);
  of.add_classes(graph, matrices);
  definitions_ = graph.definitions();
  classes_ = ptg::make_class_table(definitions_, true);
  for (const ptg::TableClass& task_class : classes_.classes) {
    RankTaskCost cost = of.cost(task_class.name);
    if (cost.kernel == forwarding_kernel) kernels_.timeless = {cost.kernel};
    const KernelIndex kernel = kernels_.kernel(cost.kernel);
    costs_.push_back(
        {kernel, [kernel, work = std::move(cost.of)](const std::int32_t* at) { return work(kernel, at); }});
  }
  for (RankMatrix& it : of.matrices) matrices_.emplace_back(std::move(it));
}

const Blueprint::Matrix& Blueprint::matrix(std::string_view name) const {
  const auto found = std::ranges::find(matrices_, name, &Matrix::name);
  if (found == matrices_.end()) throw Error(fmt::format("internal: the matrix {} has no description", name));
  return *found;
}

bool Blueprint::forwards_only() const {
  return !kernels_.timeless.empty() && kernels_.kernels.size() > kernels_.timeless.size();
}

Bytes Blueprint::largest_tile() const {
  Bytes bytes = 0;
  for (const Matrix& matrix : matrices_) bytes = std::max(bytes, matrix.largest(size_.precision));
  return bytes;
}

Bytes Blueprint::bytes_of(std::uint32_t rank) const {
  Bytes bytes = 0;
  for (const Matrix& matrix : matrices_)
    for (std::size_t i = 0; i < matrix.positions(); ++i)
      if (const Tile it = matrix.tile(i); it.owner == rank) bytes += it.bytes(size_.precision);
  return bytes;
}

}  // namespace fairlead::simulate
