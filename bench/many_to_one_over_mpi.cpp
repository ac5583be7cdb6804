// Many values from all ranks to one: the time per value, and the memory of the receiving rank, as reported by
// the operating system. The receiving task checks every value.
//
//   mpirun -n 3 many_to_one_openmpi [--by graph|flow|messages] [--values 65536] [--bytes 8] [--memory 64MiB] [--within 30MiB]
//
// In a parameterized graph each value is a separate datum; in a flow each rank writes one datum repeatedly;
// by messages each rank sends its value without a pause, and the other receives into 64 data, round robin.
//
// Exits with status 1 if a value is wrong or missing, or if a rank uses more than --memory plus --within (the
// memory of the process before its runtime starts does not count).
#define OMPI_SKIP_MPICXX 1
#define MPICH_SKIP_MPICXX 1
#include <mpi.h>
#include <fairlead/fairlead.hpp>
#include <fairlead/messages.hpp>
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
  std::string memory = "64MiB", within = "30MiB", by = "graph";
};

/// The peak resident memory of this process without files.
Bytes most_of_its_own() {
  Bytes peak = 0, file = 0;
  std::ifstream status("/proc/self/status");
  for (std::string word; status >> word;) {
    if (word == "VmHWM:") status >> peak;
    if (word == "RssFile:") status >> file;
  }
  return (peak - std::min(peak, file)) << 10;
}

/// The values that the receiving rank has checked.
struct Seen {
  std::atomic<std::int64_t> values{0}, sum{0};
};
using Numbers = Tile<std::int64_t>;

auto giving() {
  return codelet("give").cpu([](Out<Numbers> value, std::int64_t i) {
    for (std::int32_t k = 0; k < value.rows(); ++k) value(k, 0) = i;
  });
}
auto taking(Seen& seen) {
  return codelet("take").cpu([&seen](In<Numbers> value, std::int64_t i) {
    for (std::int32_t k = 0; k < value.rows(); ++k)
      if (value(k, 0) != i) throw std::runtime_error(fmt::format("a value is {}, not {}", value(k, 0), i));
    seen.values.fetch_add(1, std::memory_order_relaxed);
    seen.sum.fetch_add(i, std::memory_order_relaxed);
  });
}

/// The rank that sends a value: all but 0, round robin.
std::uint32_t giver_of(std::int64_t i, const Rank& rank) {
  return static_cast<std::uint32_t>(i % (std::int64_t{rank.count()} - 1) + 1);
}

TiledMatrix<std::int64_t> one_each(Runtime& runtime, const Rank& rank, std::int32_t size) {
  const Distribution by_row(
      [of = rank.count()](std::int32_t row, std::int32_t) { return static_cast<std::uint32_t>(row) % of; });
  return runtime.tiled<std::int64_t>("place", std::int64_t{rank.count()} * size, 1, TileSize{size, 1},
                                     by_row);
}

void by_graph(Runtime& runtime, const Rank& rank, const Asked& asked, std::int32_t size, Seen& seen) {
  const auto places = one_each(runtime, rank, size);
  ptg::Graph graph(runtime);
  const ptg::Index i("i");
  const ptg::Collection P = graph.data(places);
  auto giver = graph.task("give", i.in(0, asked.values - 1));
  auto taker = graph.task("take", i.in(0, asked.values - 1));
  giver.runs(giving(), ptg::flow("v").from(ptg::fresh_like(P)), i)
      .at(P(i % (std::int64_t{rank.count()} - 1) + 1, 0));
  taker.runs(taking(seen), ptg::flow("v").from(giver["v"](i)), i).at(P(0, 0));
  graph.run();
}

void by_flow(Runtime& runtime, const Rank& rank, const Asked& asked, std::int32_t size, Seen& seen) {
  const auto places = one_each(runtime, rank, size);
  const auto give = giving();
  const auto take = taking(seen);
  Flow flow(runtime);
  for (std::int64_t i = 0; i < asked.values; ++i) {
    const auto row = static_cast<std::int32_t>(giver_of(i, rank));
    flow.submit(give(places(row, 0), i));
    flow.submit(take(places(row, 0), i).on_rank(0));
  }
  flow.wait();
}

void by_messages(Runtime& runtime, const Rank& rank, const Asked& asked, std::int32_t size, Seen& seen) {
  constexpr std::int32_t places = 64;
  const auto own = runtime.tiled<std::int64_t>("own", places * size, 1, TileSize{size, 1});
  const auto give = giving();
  const auto take = taking(seen);
  Flow flow(runtime);
  if (rank.number() != 0) flow.submit(give(own(0, 0), std::int64_t{rank.number()}));
  for (std::int64_t i = 0; i < asked.values; ++i) {
    const std::uint32_t from = giver_of(i, rank);
    if (rank.number() == 0) {
      const auto place = own(static_cast<std::int32_t>(i % places), 0);
      receive_detached(runtime, place, from);
      flow.submit(take(place, std::int64_t{from}));
    } else if (rank.number() == from) {
      send_detached(runtime, own(0, 0), 0);
    }
  }
  flow.wait();
}

int bench(const Asked& asked) {
  const Rank rank = launched_rank();
  const Bytes before = most_of_its_own();
  Config config;
  config.set("memory", asked.memory);
  config.set("workers", 1);
  const Bytes limit = config.bytes("memory");
  Seen seen;
  double seconds = 0;
  {
    Runtime runtime(config, rank);
    const auto size = static_cast<std::int32_t>(std::max<std::int64_t>(asked.bytes / 8, 1));
    MPI_Barrier(MPI_COMM_WORLD);
    const auto begin = std::chrono::steady_clock::now();
    (asked.by == "flow"       ? by_flow
     : asked.by == "messages" ? by_messages
                              : by_graph)(runtime, rank, asked, size, seen);
    seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  }
  std::int64_t sum = 0;
  for (std::int64_t i = 0; i < asked.values; ++i) sum += asked.by == "messages" ? giver_of(i, rank) : i;
  const Bytes taken = most_of_its_own() - std::min(before, most_of_its_own());
  const bool right = rank.number() != 0 || (seen.values.load() == asked.values && seen.sum.load() == sum);
  Config within;
  within.set("memory", asked.within);
  const bool fits = taken <= limit + within.bytes("memory");
  fmt::print(
      "rank {}: {} values of {} B in {:.3f} s, {:.2f} us each; {:.1f} MiB resident in addition to {:.1f} "
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
    if (option == "--by") asked.by = argv[i + 1];
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
