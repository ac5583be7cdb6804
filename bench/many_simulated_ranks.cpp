// Time and memory of a simulated rank, and the number of visits of tasks by ranks: Cholesky with a fixed
// number of tasks per rank on many ranks. Each rank is a whole simulated machine, with the protocol of real
// runs.
//
//   many_simulated_ranks [--ranks 64] [--tasks 65536] [--within MiB]
//
// --tasks: per rank, on average. Fails if the visits by all ranks exceed three times the number of tasks and
// edges; with --within, also if the process uses more than that many MiB per rank.
#include <fairlead/distribution.hpp>
#include <fairlead/error.hpp>

#include <fmt/format.h>
#include <sys/resource.h>

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <string>

#include "machine/machine_files.hpp"
#include "simulate/cluster/cluster.hpp"

namespace {

using namespace fairlead;

constexpr std::int64_t tile = 340;

std::uint64_t tasks_of_cholesky(std::uint64_t nt) { return nt * (nt + 1) * (nt + 2) / 6; }
/// Edges: tiles of the column, and the updated tile, except for the first task that updates it.
std::uint64_t edges_of_cholesky(std::uint64_t nt) {
  const std::uint64_t trsm = nt * (nt - 1) / 2, syrk = trsm, gemm = nt * (nt - 1) * (nt - 2) / 6;
  const std::uint64_t tiles = nt * (nt + 1) / 2;
  return trsm + syrk + 2 * gemm + tasks_of_cholesky(nt) - tiles;
}

machine::MachineDescription machine_of(std::uint32_t ranks) {
  machine::MachineDescription machine = machine::load_machine("griffon");
  machine.network.nodes = ranks;
  return machine;
}

int measure(std::uint32_t ranks, std::uint64_t tasks_each, double within) {
  std::uint64_t nt = 1;
  while (tasks_of_cholesky(nt) < ranks * tasks_each) ++nt;
  const simulate::Blueprint blueprint(
      "cholesky", {static_cast<std::int64_t>(nt) * tile, tile, simulate::Precision::double_},
      Distribution::grid_of(ranks));
  const simulate::ClusterResult result =
      simulate::simulate(blueprint, machine_of(ranks), {}, {.policy = "lws"});
  rusage used{};
  getrusage(RUSAGE_SELF, &used);
  const double mebibytes = static_cast<double>(used.ru_maxrss) / 1024 / ranks;
  const auto ends = static_cast<double>(result.tasks + edges_of_cholesky(nt));
  const double looked = static_cast<double>(result.tasks_examined) / ends;
  fmt::print(
      "{} ranks: {} x {} tiles, {} tasks, {} edges: {:.1f} s, {:.1f} microseconds a task; {:.2f} MiB a rank; "
      "{:.2f} visits per task and edge\n",
      ranks, nt, nt, result.tasks, edges_of_cholesky(nt), result.simulation_seconds,
      1e6 * result.simulation_seconds / static_cast<double>(result.tasks), mebibytes, looked);
  if (result.tasks != tasks_of_cholesky(nt)) throw Error("some tasks have not run");
  if (looked > 3) throw Error("too many visits of tasks");
  if (within > 0 && mebibytes > within) throw Error("a rank uses too much memory");
  return 0;
}

}  // namespace

int main(int argc, char** argv) try {
  std::uint64_t ranks = 64, tasks = 65536;
  double within = 0;
  for (int i = 1; i + 1 < argc; i += 2) {
    if (std::strcmp(argv[i], "--ranks") == 0) ranks = std::strtoull(argv[i + 1], nullptr, 10);
    if (std::strcmp(argv[i], "--tasks") == 0) tasks = std::strtoull(argv[i + 1], nullptr, 10);
    if (std::strcmp(argv[i], "--within") == 0) within = std::atof(argv[i + 1]);
  }
  return measure(static_cast<std::uint32_t>(ranks), tasks, within);
} catch (const std::exception& error) {
  fmt::print(stderr, "many_simulated_ranks: {}\n", error.what());
  return 1;
}
