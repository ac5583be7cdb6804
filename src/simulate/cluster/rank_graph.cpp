// See rank_graph.hpp.
#include "simulate/cluster/rank_graph.hpp"

#include <fairlead/error.hpp>
#include <fairlead/parameterized_linalg.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "algorithms/linalg/blas/flops.hpp"
#include "base/suggest.hpp"
#include "simulate/workloads/dense.hpp"
#include "simulate/workloads/list.hpp"
#include "simulate/workloads/slab_decomposition.hpp"

namespace fairlead::simulate {

namespace {

constexpr std::int64_t most_tiles = 4096;  // per side

double real(std::int64_t number) { return static_cast<double>(number); }

// ---- dense matrices

/// A square matrix in tiles, distributed cyclically; the last tile may be smaller.
struct Dense {
  WorkloadSize size;
  CyclicMap grid;
  std::int32_t tiles = 0;

  std::int64_t height(std::int32_t tile) const {
    return std::min(size.tile, size.n - std::int64_t{tile} * size.tile);
  }
  RankMatrix matrix(std::string name, bool lower = false) const {
    const auto side = [it = *this](std::int32_t tile) { return it.height(tile); };
    return {.name = std::move(name),
            .rows = tiles,
            .columns = tiles,
            .lower = lower,
            .height = side,
            .width = side,
            .owner = [map = grid](std::int32_t row, std::int32_t column) {
              return static_cast<std::uint32_t>(map.rank(row, column));
            }};
  }
};

Dense dense(std::string_view name, const WorkloadSize& size, const CyclicMap& grid) {
  if (size.n < 1 || size.tile < 1 || (size.n - 1) / size.tile >= most_tiles)
    throw ConfigError(fmt::format("{}: n = {} in tiles of {}: there may be from 1 to {} of them a side", name,
                                  size.n, size.tile, most_tiles));
  const auto tiles = static_cast<std::int32_t>((size.n + size.tile - 1) / size.tile);
  if (tiles < grid.rank_rows || tiles < grid.rank_columns)
    throw ConfigError(
        fmt::format("n = {} in tiles of {} makes {} of them a side, fewer than the grid of {} x {} ranks has "
                    "rows or columns: some ranks would have nothing. Take smaller tiles, or fewer ranks",
                    size.n, size.tile, tiles, grid.rank_rows, grid.rank_columns));
  return {size, grid, tiles};
}

/// Parameters are in the order of the graph's classes: the step comes first.
RankTaskCost cost_of_factorization(const Dense& it, std::string_view task_class) {
  using namespace linalg;
  if (task_class == "potrf" || task_class == "getrf")
    return {std::string(task_class),
            [it, potrf = task_class == "potrf"](KernelIndex kernel, const std::int32_t* at) {
              const std::int64_t n = it.height(at[0]);
              return dense_task(kernel, potrf ? potrf_flops(real(n)) : getrf_flops(real(n)), n, n, n, 0,
                                at[0]);
            }};
  if (task_class.starts_with("trsm"))
    return {"trsm", [it](KernelIndex kernel, const std::int32_t* at) {
              const std::int64_t rows = it.height(at[1]), n = it.height(at[0]);
              return dense_task(kernel, trsm_flops(real(rows), real(n)), rows, n, n, 0, at[0]);
            }};
  if (task_class == "syrk")
    return {"syrk", [it](KernelIndex kernel, const std::int32_t* at) {
              const std::int64_t n = it.height(at[1]), inner = it.height(at[0]);
              return dense_task(kernel, syrk_flops(real(n), real(inner)), n, n, inner, 0, at[0]);
            }};
  return {"gemm", [it](KernelIndex kernel, const std::int32_t* at) {
            const std::int64_t rows = it.height(at[1]), columns = it.height(at[2]), inner = it.height(at[0]);
            return dense_task(kernel, gemm_flops(real(rows), real(columns), real(inner)), rows, columns,
                              inner, 0, at[0]);
          }};
}

RankGraph cholesky_or_lu(std::string_view name, const WorkloadSize& size, const CyclicMap& grid) {
  const Dense it = dense(name, size, grid);
  const bool cholesky = name == "cholesky";
  return {.matrices = {it.matrix("A", cholesky)},
          .add_classes =
              [cholesky](ptg::Graph& graph, std::span<const TiledMatrix<double>> of) {
                const linalg::Kernels none(nullptr);
                cholesky ? linalg::cholesky(graph, none, of[0]) : linalg::lu(graph, none, of[0]);
              },
          .cost = [it](std::string_view task_class) { return cost_of_factorization(it, task_class); }};
}

RankTaskCost passing() {
  return {std::string(forwarding_kernel),
          [](KernelIndex kernel, const std::int32_t*) { return ProgramTask{.kernel = kernel}; }};
}

/// C += A B; separate tasks forward the tiles of A and B.
RankGraph product(const WorkloadSize& size, const CyclicMap& grid) {
  const Dense it = dense("gemm", size, grid);
  return {.matrices = {it.matrix("A"), it.matrix("B"), it.matrix("C")},
          .add_classes =
              [](ptg::Graph& graph, std::span<const TiledMatrix<double>> of) {
                linalg::multiply(graph, linalg::Kernels(nullptr), 1.0, of[0], of[1], 1.0, of[2]);
              },
          .cost =
              [it](std::string_view task_class) {
                if (task_class.starts_with(forwarding_kernel)) return passing();
                return RankTaskCost{
                    "gemm",
                    [it, first = task_class == "gemm_first"](KernelIndex kernel, const std::int32_t* at) {
                      const std::int32_t step = first ? 0 : at[2];
                      const std::int64_t rows = it.height(at[0]), columns = it.height(at[1]),
                                         inner = it.height(step);
                      return dense_task(kernel, linalg::gemm_flops(real(rows), real(columns), real(inner)),
                                        rows, columns, inner, 0, step);
                    }};
              }};
}

// ---- a stencil

/// Like the workload "stencil"; each rank owns consecutive blocks.
RankGraph stencil(const WorkloadSize& size, const CyclicMap& grid, const PolicyOptions& options) {
  const std::int64_t cells = options.integer("width", 1, 100'000) * options.integer("height", 1, 10'000),
                     border = options.integer("border", 1, 1'000'000),
                     iterations = options.integer("iterations", 1, 100'000);
  const double flops = options.number("flops", 1e-3, 1e9);
  const SlabDecomposition slabs(size, cells);
  const std::int32_t blocks = slabs.count(), ranks = grid.rank_rows * grid.rank_columns;
  if (size.n < 1 || size.tile < 1 || blocks > most_tiles)
    throw ConfigError(fmt::format("stencil: n = {} in blocks of {} planes: there may be from 1 to {} of them",
                                  size.n, size.tile, most_tiles));
  if (blocks < std::max(ranks, 2))
    throw ConfigError(
        fmt::format("a stencil over {} ranks needs as many blocks, and at least two: n = {} in blocks of {} "
                    "planes makes {}",
                    ranks, size.n, size.tile, blocks));
  if (border > slabs.fewest_planes())
    options.refuse("border",
                   fmt::format("is {}, but the last block has {} planes", border, slabs.fewest_planes()));
  const auto matrix = [&](std::string name, std::function<std::int64_t(std::int32_t)> planes) {
    return RankMatrix{.name = std::move(name),
                      .rows = blocks,
                      .columns = 1,
                      .height = std::move(planes),
                      .width = [cells](std::int32_t) { return cells; },
                      .owner =
                          [ranks, blocks](std::int32_t block, std::int32_t) {
                            return static_cast<std::uint32_t>(std::int64_t{block} * ranks / blocks);
                          }};
  };
  const auto of_border = [border](std::int32_t) { return border; };
  const auto steps = static_cast<std::int32_t>((iterations + border - 1) / border);
  return {
      .matrices = {matrix("blocks",
                          [=](std::int32_t block) { return 2 * (slabs.planes(block) + 2 * border); }),
                   matrix("bottoms", of_border), matrix("tops", of_border)},
      .add_classes =
          [blocks, steps](ptg::Graph& graph, std::span<const TiledMatrix<double>> of) {
            using Cells = Tile<double>;
            using ptg::flow;
            const ptg::Index b("b"), s("s");
            const ptg::Collection all = graph.data(of[0], "blocks"), bottoms = graph.data(of[1], "bottoms"),
                                  tops = graph.data(of[2], "tops");
            const auto save = codelet("save_border").cpu([](In<Cells>, Out<Cells>) {}).emulated();
            const auto update = codelet("stencil").cpu([](In<Cells>, In<Cells>, InOut<Cells>) {}).emulated();
            auto compute = graph.task("stencil", s.in(0, steps - 1), b.in(0, blocks - 1));
            const auto saves = [&](const char* name, const ptg::Collection& side) {
              auto saved = graph.task(name, s.in(0, steps - 1), b.in(0, blocks - 1));
              saved
                  .runs(save, flow("block").from(all(b, 0)).when(s == 0).from(compute["block"](s - 1, b)),
                        flow("border").from(side(b, 0)).when(s == 0).from(saved["border"](s - 1, b)))
                  .priority(2 * (steps - s) + 1)
                  .at(all(b, 0));
              return saved;
            };
            auto bottom = saves("save_bottom", bottoms), top = saves("save_top", tops);
            compute
                .runs(update,
                      flow("below")
                          .from(top["border"](s, blocks - 1))
                          .when(b == 0)
                          .from(top["border"](s, b - 1)),
                      flow("above")
                          .from(bottom["border"](s, 0))
                          .when(b == blocks - 1)
                          .from(bottom["border"](s, b + 1)),
                      flow("block").from(all(b, 0)).when(s == 0).from(compute["block"](s - 1, b)))
                .priority(2 * (steps - s))
                .at(all(b, 0));
          },
      .cost =
          [=](std::string_view task_class) {
            if (task_class != "stencil")
              return RankTaskCost{"save_border", [=](KernelIndex kernel, const std::int32_t* at) {
                                    return SlabDecomposition::task(kernel, slabs.cells(border), 1, at[0]);
                                  }};
            return RankTaskCost{"stencil", [=](KernelIndex kernel, const std::int32_t* at) {
                                  const std::int64_t done = at[0] * border,
                                                     of = std::min(border, iterations - done),
                                                     planes = of * slabs.planes(at[1]) + of * (of - 1);
                                  return SlabDecomposition::task(kernel, slabs.cells(planes), flops,
                                                                 static_cast<std::int32_t>(done));
                                }};
          }};
}

// ---- ping-pong

constexpr std::array ping_pong_options{
    PolicyOption{"hops", "100", "how often the value goes there, and back"}};

/// DAGuE (2011), Figure 4: one value of n elements goes back and forth between two ranks, without computation.
RankGraph ping_pong(const WorkloadSize& size, const CyclicMap& grid, const PolicyOptions& options) {
  const auto hops = static_cast<std::int32_t>(options.integer("hops", 1, 1'000'000));
  constexpr std::int64_t most = 1'000'000'000;
  if (size.n < 1 || size.n > most)
    throw ConfigError(fmt::format("pingpong: n, the value's elements, may be from 1 to {}", most));
  if (grid.rank_rows * grid.rank_columns != 2)
    throw ConfigError("a ping-pong is between two ranks: --ranks 2");
  return {
      .matrices = {{.name = "A",
                    .rows = 2,
                    .columns = 1,
                    .height = [n = size.n](std::int32_t) { return n; },
                    .width = [](std::int32_t) { return std::int64_t{1}; },
                    .owner = [](std::int32_t row, std::int32_t) { return static_cast<std::uint32_t>(row); }}},
      .add_classes =
          [hops](ptg::Graph& graph, std::span<const TiledMatrix<double>> of) {
            const ptg::Index k("k");
            const ptg::Collection A = graph.data(of[0]);
            const auto nothing = codelet("pass").cpu([](InOut<Tile<double>>) {}).emulated();
            auto ping = graph.task("pass ping", k.in(0, hops - 1)),
                 pong = graph.task("pass pong", k.in(0, hops - 1));
            ping.runs(nothing, ptg::flow("T").from(A(0, 0)).when(k == 0).from(pong["T"](k - 1))).at(A(0, 0));
            pong.runs(nothing, ptg::flow("T").from(ping["T"](k))).at(A(1, 0));
          },
      .cost = [](std::string_view) { return passing(); }};
}

struct Named {
  std::string_view name;
  std::span<const PolicyOption> options;
  RankGraph (*make)(const WorkloadSize&, const CyclicMap&, const PolicyOptions&);
};
constexpr std::array list = {
    Named{"cholesky",
          {},
          [](const WorkloadSize& size, const CyclicMap& grid, const PolicyOptions&) {
            return cholesky_or_lu("cholesky", size, grid);
          }},
    Named{"lu",
          {},
          [](const WorkloadSize& size, const CyclicMap& grid, const PolicyOptions&) {
            return cholesky_or_lu("lu", size, grid);
          }},
    Named{"gemm",
          {},
          [](const WorkloadSize& size, const CyclicMap& grid, const PolicyOptions&) {
            return product(size, grid);
          }},
    Named{"stencil", stencil_options, stencil},
    Named{"pingpong", ping_pong_options, ping_pong},
};

}  // namespace

RankGraph make_rank_graph(std::string_view written, const WorkloadSize& size, const CyclicMap& grid) {
  const std::string_view name = written.substr(0, written.find(':'));
  const auto found = std::ranges::find(list, name, &Named::name);
  if (found == list.end()) {
    std::vector<std::string_view> names;
    for (const Named& named : list) names.push_back(named.name);
    throw ConfigError(fmt::format("there is no graph of {} over ranks: there are some of {}{}", name,
                                  fmt::join(names, ", "), did_you_mean(name, names)));
  }
  written.remove_prefix(std::min(name.size() + 1, written.size()));
  return found->make(size, grid, PolicyOptions(found->name, found->options, written, "workload"));
}

}  // namespace fairlead::simulate
