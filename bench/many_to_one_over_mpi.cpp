// Many values from all ranks to one: how long each takes, and what memory that takes on the rank that gets them, as the
// kernel counts it. The receiving task looks at every value.
//
//   mpirun -n 3 many_to_one_openmpi [--values 65536] [--bytes 8] [--memory 64MiB] [--within 30MiB]
//
// Exit status 1 if a value is wrong or missing, or if a rank takes more than its --memory and --within besides (what a
// process has before its runtime begins is not counted).
#define OMPI_SKIP_MPICXX 1
#define MPICH_SKIP_MPICXX 1
#include <mpi.h>
#include <fairlead/fairlead.hpp>
#include <fairlead/ptg.hpp>
#include <fairlead/ranks.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <stdexcept>
#include <string>
#include <string_view>

namespace {

using namespace fairlead;

struct Asked {
  std::int64_t values = 65536, bytes = 8;
  std::string memory = "64MiB", within = "30MiB";
};

/// The most that this process has had resident which is no file's.
Bytes most_of_its_own() {
  Bytes peak = 0, file = 0;
  std::ifstream status("/proc/self/status");
  for (std::string word; status >> word;) {
    if (word == "VmHWM:") status >> peak;
    if (word == "RssFile:") status >> file;
  }
  return (peak - std::min(peak, file)) << 10;
}

int bench(const Asked& asked) {
  const Rank rank = launched_rank();
  const auto ranks = static_cast<std::int64_t>(rank.count());
  const Bytes before = most_of_its_own();
  Config config;
  config.set("memory", asked.memory);
  config.set("workers", 1);
  const Bytes limit = config.bytes("memory");
  std::atomic<std::int64_t> seen{0}, sum{0};
  double seconds = 0;
  {
    Runtime runtime(config, rank);
    const auto size = static_cast<std::int32_t>(std::max<std::int64_t>(asked.bytes / 8, 1));
    const Distribution by_row(
        [of = rank.count()](std::int32_t row, std::int32_t) { return static_cast<std::uint32_t>(row) % of; });
    const auto places = runtime.tiled<std::int64_t>("place", ranks * size, 1, TileSize{size, 1}, by_row);
    const auto give = codelet("give").cpu([](Out<Tile<std::int64_t>> value, std::int64_t i) {
      for (std::int32_t k = 0; k < value.rows(); ++k) value(k, 0) = i;
    });
    const auto take = codelet("take").cpu([&](In<Tile<std::int64_t>> value, std::int64_t i) {
      for (std::int32_t k = 0; k < value.rows(); ++k)
        if (value(k, 0) != i) throw std::runtime_error("a value is not what was given");
      seen.fetch_add(1, std::memory_order_relaxed);
      sum.fetch_add(i, std::memory_order_relaxed);
    });
    ptg::Graph graph(runtime);
    const ptg::Index i("i");
    const ptg::Collection P = graph.data(places);
    auto giver = graph.task("give", i.in(0, asked.values - 1));
    auto taker = graph.task("take", i.in(0, asked.values - 1));
    giver.runs(give, ptg::flow("v").from(ptg::fresh_like(P)), i).at(P(i % (ranks - 1) + 1, 0));
    taker.runs(take, ptg::flow("v").from(giver["v"](i)), i).at(P(0, 0));
    MPI_Barrier(MPI_COMM_WORLD);
    const auto begin = std::chrono::steady_clock::now();
    graph.run();
    seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  }
  const Bytes taken = most_of_its_own() - std::min(before, most_of_its_own());
  const bool right = rank.number() != 0 ||
                     (seen.load() == asked.values && sum.load() == asked.values * (asked.values - 1) / 2);
  Config within;
  within.set("memory", asked.within);
  const bool fits = taken <= limit + within.bytes("memory");
  fmt::print(
      "rank {}: {} values of {} B in {:.3f} s, {:.2f} us each; {:.1f} MiB resident besides {:.1f} "
      "before{}{}\n",
      rank.number(), asked.values, asked.bytes, seconds, seconds * 1e6 / static_cast<double>(asked.values),
      static_cast<double>(taken) / (1 << 20), static_cast<double>(before) / (1 << 20),
      right ? "" : "; WRONG VALUES", fits ? "" : "; TOO MUCH MEMORY");
  return right && fits ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  Asked asked;
  for (int i = 1; i + 1 < argc; i += 2) {
    const std::string_view option = argv[i];
    if (option == "--values") asked.values = std::atoll(argv[i + 1]);
    if (option == "--bytes") asked.bytes = std::atoll(argv[i + 1]);
    if (option == "--memory") asked.memory = argv[i + 1];
    if (option == "--within") asked.within = argv[i + 1];
  }
  int level = 0, number = 0;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
  MPI_Comm_rank(MPI_COMM_WORLD, &number);
  int code = 1;
  try {
    code = bench(asked);
  } catch (const std::exception& error) {
    fmt::print(stderr, "many_to_one: rank {}: {}\n", number, error.what());
  }
  MPI_Finalize();
  return code;
}
