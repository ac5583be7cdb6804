// See blueprint.hpp.
#include "simulate/cluster/blueprint.hpp"

#include <fairlead/error.hpp>
#include <fairlead/parameterized_linalg.hpp>

#include <fmt/format.h>

#include <algorithm>

#include "algorithms/linalg/blas/flops.hpp"
#include "config/value.hpp"
#include "simulate/workloads/dense.hpp"

namespace fairlead::simulate {

namespace {
constexpr std::int64_t most_tiles = 4096;  // a side
}

std::optional<CyclicMap> grid_in(std::string_view text) {
  constexpr std::int32_t most_ranks = 4096;
  const auto grid = config::parse_grid(text);
  if (!grid || (*grid)[0] > most_ranks || (*grid)[1] > most_ranks / (*grid)[0]) return std::nullopt;
  return CyclicMap{.rank_rows = (*grid)[0], .rank_columns = (*grid)[1]};
}

Blueprint::Blueprint(std::string_view workload, const WorkloadSize& size, const CyclicMap& grid)
    : size_(size),
      grid_(grid),
      tiles_(static_cast<std::int32_t>((size.n + size.tile - 1) / size.tile)),
      lower_(workload == "cholesky") {
  if (workload != "cholesky" && workload != "lu")
    throw ConfigError(
        fmt::format("there is no graph of {} over ranks: there are some of cholesky and lu", workload));
  if (size.n < 1 || size.tile < 1 || (size.n - 1) / size.tile >= most_tiles)
    throw ConfigError(fmt::format("{}: n = {} in tiles of {}: there may be from 1 to {} of them a side",
                                  workload, size.n, size.tile, most_tiles));
  if (tiles_ < grid.rank_rows || tiles_ < grid.rank_columns)
    throw ConfigError(
        fmt::format("n = {} in tiles of {} makes {} of them a side, fewer than the grid of {} x {} ranks has "
                    "rows or columns: some ranks would have nothing. Take smaller tiles, or fewer ranks",
                    size.n, size.tile, tiles_, grid.rank_rows, grid.rank_columns));
  // Classes do not depend on what tiles hold, nor on who owns them: here nobody does, and each is of one element.
  Config config;
  config.set("workers", 1);
  config.set("memory", "64MiB");
  config.set("bind-threads", false);
  Runtime runtime(config);
  const Distribution elsewhere([](std::int32_t, std::int32_t) { return 1u; });
  const auto a = runtime.tiled<double>("A", tiles_, tiles_, 1, elsewhere,
                                       lower_ ? fairlead::Tiles::lower : fairlead::Tiles::all);
  const linalg::Kernels none(nullptr);
  ptg::Graph graph(runtime);
  lower_ ? linalg::cholesky(graph, none, a) : linalg::lu(graph, none, a);
  definitions_ = graph.definitions();
  classes_ = ptg::make_class_table(definitions_, true);
  std::vector<std::uint32_t> owners;
  for (std::size_t i = 0; i < positions(); ++i) owners.push_back(tile(i).owner);
  owners_ = ptg::Owners(std::move(owners));
  for (const ptg::TableClass& of : classes_.classes) costs_.push_back(cost_in(of.name));
}

Blueprint::Cost Blueprint::cost_in(std::string_view task_class) {
  using namespace linalg;
  const auto with = [this](std::string_view name, auto work) {
    const KernelIndex kernel = kernels_.kernel(name);
    return Cost{kernel, [kernel, work](const std::int32_t* at) { return work(kernel, at); }};
  };
  const auto real = [](std::int64_t number) { return static_cast<double>(number); };
  // Parameters are in the order in which the graph has them: the step first.
  if (task_class == "potrf" || task_class == "getrf")
    return with(
        task_class, [this, real, potrf = task_class == "potrf"](KernelIndex kernel, const std::int32_t* at) {
          const std::int64_t n = height(at[0]);
          return dense_task(kernel, potrf ? potrf_flops(real(n)) : getrf_flops(real(n)), n, n, n, 0, at[0]);
        });
  if (task_class.starts_with("trsm"))
    return with("trsm", [this, real](KernelIndex kernel, const std::int32_t* at) {
      const std::int64_t rows = height(at[1]), n = height(at[0]);
      return dense_task(kernel, trsm_flops(real(rows), real(n)), rows, n, n, 0, at[0]);
    });
  if (task_class == "syrk")
    return with("syrk", [this, real](KernelIndex kernel, const std::int32_t* at) {
      const std::int64_t n = height(at[1]), inner = height(at[0]);
      return dense_task(kernel, syrk_flops(real(n), real(inner)), n, n, inner, 0, at[0]);
    });
  if (task_class == "gemm")
    return with("gemm", [this, real](KernelIndex kernel, const std::int32_t* at) {
      const std::int64_t rows = height(at[1]), columns = height(at[2]), inner = height(at[0]);
      return dense_task(kernel, gemm_flops(real(rows), real(columns), real(inner)), rows, columns, inner, 0,
                        at[0]);
    });
  throw Error(fmt::format("internal: nobody knows what a {} costs", task_class));
}

Blueprint::Tile Blueprint::tile(std::size_t position) const {
  const auto row = static_cast<std::int32_t>(position % static_cast<std::size_t>(tiles_));
  const auto column = static_cast<std::int32_t>(position / static_cast<std::size_t>(tiles_));
  Tile tile{row, column, static_cast<std::uint32_t>(grid_.rank(row, column)), 0, 0};
  if (lower_ && column > row) return tile;
  tile.rows = height(row);
  tile.columns = height(column);
  return tile;
}

Bytes Blueprint::bytes_of(std::uint32_t rank) const {
  Bytes bytes = 0;
  for (std::size_t i = 0; i < positions(); ++i)
    if (const Tile it = tile(i); it.owner == rank) bytes += it.bytes(size_.precision);
  return bytes;
}

}  // namespace fairlead::simulate
