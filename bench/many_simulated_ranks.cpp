// How much a simulated rank takes of time and memory, and how often ranks look at tasks: Cholesky with so many tasks for each of many
// ranks, which are whole simulated machines that speak by the protocol of real runs.
//
//   many_simulated_ranks [--ranks 64] [--tasks 65536] [--within MiB]
//
// --tasks: of each rank, on average. Fails if all ranks together look at more than three times as many tasks as there are tasks
// and edges; with --within, also if the process has taken more than so many MiB for each rank.
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
/// Inputs that come from tasks: tiles of the column, and the tile that is changed, but for the first who does so.
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
      "tasks were looked at {:.2f} times as often as there are tasks and edges\n",
      ranks, nt, nt, result.tasks, edges_of_cholesky(nt), result.simulation_seconds,
      1e6 * result.simulation_seconds / static_cast<double>(result.tasks), mebibytes, looked);
  if (result.tasks != tasks_of_cholesky(nt)) throw Error("not all tasks have run");
  if (looked > 3) throw Error("tasks are looked at too often");
  if (within > 0 && mebibytes > within) throw Error("a rank takes more memory than it may");
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
