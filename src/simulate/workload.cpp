// The list of all workloads.
#include "simulate/workload.hpp"

#include <fmt/format.h>
#include <fairlead/error.hpp>

#include <algorithm>
#include <array>
#include <vector>

#include "base/suggest.hpp"
#include "simulate/workloads/list.hpp"

namespace fairlead::simulate {

namespace {

constexpr std::array list = {
    Workload{"cholesky", "Cholesky factorization of a matrix n x n", make_cholesky, cholesky_io},
    Workload{"lu", "LU factorization without pivoting of a matrix n x n", make_lu, lu_io},
    Workload{"gemm", "product of two matrices n x n", make_gemm, gemm_io},
    Workload{"qr", "QR factorization of a matrix n x n", make_qr, nullptr, qr_options},
    Workload{"ldlt", "Cholesky factorization of a matrix n x n as in SpLDLT: only gemm runs on devices",
             make_ldlt, cholesky_io},
    Workload{"stencil", "3-D stencil on n planes, in blocks of tile planes", make_stencil, nullptr,
             stencil_options},
    Workload{"life", "game of life on n x n x n cells, in blocks of tile planes", make_life, nullptr,
             life_options},
    Workload{"random", "random graph in layers of n / tile tasks, on data of tile x tile", make_random,
             nullptr, random_options},
    Workload{"wavefront", "sweeps over a grid of n x n in tiles, each after its upper and left neighbour",
             make_wavefront, nullptr, wavefront_options},
    Workload{"forkjoin", "phases of n / tile tasks at once, between tasks that run alone", make_forkjoin,
             nullptr, forkjoin_options},
    Workload{"tree", "multifrontal Cholesky on a tree of uneven fronts, the root's of n x n", make_tree,
             nullptr, tree_options},
    Workload{"mixture", "two of these at once, with the same n and tile", make_mixture, nullptr,
             mixture_options},
};

}  // namespace

std::span<const Workload> workloads() { return list; }

const Workload& find_workload(std::string_view written) {
  const std::string_view name = written.substr(0, written.find(':'));
  const auto found = std::ranges::find(list, name, &Workload::name);
  if (found != list.end()) return *found;
  std::vector<std::string_view> names;
  for (const Workload& workload : list) names.push_back(workload.name);
  throw ConfigError(fmt::format("unknown workload \"{}\"{}; there are {}", name, did_you_mean(name, names),
                                fmt::join(names, ", ")));
}

Program make_workload(std::string_view written, const WorkloadSize& size) {
  const Workload& workload = find_workload(written);
  constexpr std::int64_t largest = 1'000'000'000;  // its square counts elements
  if (size.n < 1 || size.tile < 1 || size.n > largest || size.tile > largest)
    throw ConfigError(fmt::format("{}: n and tile must be from 1 to {}, not {} and {}", workload.name,
                                  largest, size.n, size.tile));
  constexpr std::int64_t most_tiles = 4096;  // per side; their product counts data
  if ((size.n + size.tile - 1) / size.tile > most_tiles)
    throw ConfigError(fmt::format("{}: n = {} in tiles of {} makes {} of them a side; there may be {}",
                                  workload.name, size.n, size.tile, (size.n + size.tile - 1) / size.tile,
                                  most_tiles));
  written.remove_prefix(std::min(workload.name.size() + 1, written.size()));
  return workload.make(size, PolicyOptions(workload.name, workload.options, written, "workload"));
}

}  // namespace fairlead::simulate
