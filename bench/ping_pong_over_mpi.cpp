// A value that bounces between two ranks, from task to task, compared with MPI alone in the same run: Bosilca
// et al. 2012 (DAGuE), Figure 5. Every hop checks the value of the previous hop.
//
//   mpirun -n 2 ping_pong_openmpi [--front ptg|jdf] [--hops 2000] [--least-bytes 8] [--most-bytes 16777216]
//       [--repetitions 5]
//
// As a graph in C++, or as ping_pong.jdf compiled. Rank 0 prints a row for each size: microseconds per hop by
// MPI, by Fairlead if ranks read each other's memory, and by Fairlead over MPI only (medians; all three
// alternate), and the ratios to the first.
#include <fairlead/fairlead.hpp>
#include <fairlead/parsec.hpp>
#include <fairlead/ptg.hpp>
#include <fairlead/ranks.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <stdexcept>
#include <string_view>
#include <vector>

#include "median.hpp"
#include "over_mpi.hpp"
#include "ping_pong.hpp"

namespace {

using namespace fairlead;

struct Asked {
  std::int64_t hops = 2000, least_bytes = 8, most_bytes = 16 << 20;
  int repetitions = 5;
  bool by_jdf = false;
};

double now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

double by_mpi(int rank, std::int64_t size, std::int64_t hops) {
  std::vector<double> value(static_cast<std::size_t>(size));
  const int bytes = static_cast<int>(value.size() * sizeof(double));
  MPI_Barrier(MPI_COMM_WORLD);
  const double begin = now();
  for (std::int64_t i = 0; i < hops; ++i) {
    if (i % 2 == rank) {
      value.front() += 1;
      MPI_Send(value.data(), bytes, MPI_BYTE, 1 - rank, 0, MPI_COMM_WORLD);
    } else {
      MPI_Recv(value.data(), bytes, MPI_BYTE, 1 - rank, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
  }
  return (now() - begin) / static_cast<double>(hops);
}

constexpr const char* wrong_value = "the value differs from that of the previous hop";

/// Seconds per hop, all of them between two barriers.
double time_of(ptg::Graph& graph, std::int64_t hops) {
  MPI_Barrier(MPI_COMM_WORLD);
  const double start = now();
  graph.run();
  MPI_Barrier(MPI_COMM_WORLD);
  return (now() - start) / static_cast<double>(hops);
}

double by_jdf(Runtime& runtime, const TiledMatrix<double>& values, std::int64_t hops) {
  {
    Flow flow(runtime);
    if (const auto first = values.here_or_not(0, 0); first.datum().datum != nullptr) {
      const auto hold = flow.acquire(write(first));
      const auto& value = hold.get<0>();
      for (std::int32_t i = 0; i < value.rows(); ++i) value(i, 0) = 0;
    }
    flow.wait();
  }
  parsec::Descriptor descriptor(values);
  int wrong = 0;
  ptg::Graph graph(runtime);
  ping_pong(graph, descriptor, static_cast<int>(hops), &wrong);
  const double time = time_of(graph, hops);
  if (wrong != 0) throw std::runtime_error(wrong_value);
  return time;
}

double by_graph(Runtime& runtime, const TiledMatrix<double>& values, std::int64_t hops) {
  const auto begin = codelet("begin").cpu([](Out<Tile<double>> value) {
    for (std::int32_t i = 0; i < value.rows(); ++i) value(i, 0) = 0;
  });
  const auto hop = codelet("hop").cpu([](InOut<Tile<double>> value, std::int64_t i) {
    if (value(0, 0) != static_cast<double>(i) || (value.rows() > 1 && value(value.rows() - 1, 0) != 0))
      throw std::runtime_error(wrong_value);
    value(0, 0) += 1;
  });
  ptg::Graph graph(runtime);
  const ptg::Index i("i");
  const ptg::Collection V = graph.data(values);
  auto first = graph.task("begin");
  auto next = graph.task("hop", i.in(0, hops - 1));
  first.runs(begin, ptg::flow("v").from(V(0, 0))).at(V(0, 0));
  next.runs(hop, ptg::flow("v").from(first["v"]()).when(i == 0).from(next["v"](i - 1)), i).at(V(i % 2, 0));
  return time_of(graph, hops);
}

double by_fairlead(const char* reads, bool jdf, std::int64_t size, std::int64_t hops) {
  Config config;
  config.set("memory", "512MiB");
  config.set("workers", 1);
  config.set("node-local-reads", reads);
  Runtime runtime(config, launched_rank());
  const Distribution by_row(
      [](std::int32_t row, std::int32_t) { return static_cast<std::uint32_t>(row % 2); });
  const auto values =
      runtime.tiled<double>("value", 2 * size, 1, TileSize{static_cast<std::int32_t>(size), 1}, by_row);
  const auto time = [&](std::int64_t of) {
    return jdf ? by_jdf(runtime, values, of) : by_graph(runtime, values, of);
  };
  time(10);  // touches the memory, like MPI's value before: a first touch takes longer than the copy
  return time(hops);
}

int bench(const Asked& asked) {
  const Rank rank = launched_rank();
  if (!are_two(rank)) return 2;
  if (rank.number() == 0)
    fmt::print("{:>10} {:>10} {:>10} {:>8} {:>10} {:>8}\n", "bytes", "MPI us", "read us", "ratio", "sent us",
               "ratio");
  for (std::int64_t size = 1; size * 8 <= asked.most_bytes; size *= size < 512 ? 8 : 4) {
    if (size * 8 < asked.least_bytes) continue;
    const std::int64_t hops = std::max<std::int64_t>(20, std::min(asked.hops, (asked.hops << 14) / size));
    std::vector<double> mpi, read, sent;
    for (int i = 0; i < asked.repetitions; ++i) {
      mpi.push_back(by_mpi(static_cast<int>(rank.number()), size, hops));
      read.push_back(by_fairlead("on", asked.by_jdf, size, hops));
      sent.push_back(by_fairlead("off", asked.by_jdf, size, hops));
    }
    if (rank.number() == 0)
      fmt::print("{:>10} {:>10.2f} {:>10.2f} {:>8.2f} {:>10.2f} {:>8.2f}\n", size * 8, median(mpi) * 1e6,
                 median(read) * 1e6, median(read) / median(mpi), median(sent) * 1e6,
                 median(sent) / median(mpi));
  }
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  Asked asked;
  for (int i = 1; i + 1 < argc; i += 2) {
    const std::string_view option = argv[i];
    const std::int64_t value = std::atoll(argv[i + 1]);
    if (option == "--hops")
      asked.hops = value;
    else if (option == "--least-bytes")
      asked.least_bytes = value;
    else if (option == "--most-bytes")
      asked.most_bytes = value;
    else if (option == "--repetitions")
      asked.repetitions = static_cast<int>(value);
    else if (option == "--front")
      asked.by_jdf = std::string_view(argv[i + 1]) == "jdf";
  }
  return between_ranks(argc, argv, "ping_pong", Others::notified, [&] { return bench(asked); });
}
