// The flows of python_tasks.py in C++: empty bodies, and Cholesky factorizations of tiles so small that tasks cost more than
// their bodies. Prints the seconds of each, wall-clock and of all processors.
#include <fairlead/fairlead.hpp>
#include <fairlead/linalg.hpp>

#include <fmt/format.h>
#include <sys/resource.h>

#include <chrono>
#include <cstdint>
#include <cstdlib>

#include "solver/load_kernels.hpp"

namespace {

using namespace fairlead;

double processor_seconds() {
  rusage used{};
  getrusage(RUSAGE_SELF, &used);
  const auto seconds = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) + 1e-6 * static_cast<double>(time.tv_usec);
  };
  return seconds(used.ru_utime) + seconds(used.ru_stime);
}

template <class Run>
void time(const char* name, std::uint64_t tasks, const Run& run) {
  const auto begin = std::chrono::steady_clock::now();
  const double before = processor_seconds();
  run();
  const double wall = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  fmt::print("{} {} {:.6f} {:.6f}\n", name, tasks, wall, processor_seconds() - before);
}

/// Ones, and `tiles` times a tile's side more on the diagonal.
void set_tile(TileView<double> tile, bool on_diagonal, double diagonal) {
  for (std::int32_t j = 0; j < tile.columns(); ++j)
    for (std::int32_t i = 0; i < tile.rows(); ++i) tile(i, j) = on_diagonal && i == j ? diagonal : 1;
}

void empty_tasks(Runtime& runtime, std::int64_t tasks) {
  constexpr std::int32_t data = 64;
  const auto a = runtime.tiled<double>("a", data, 1, 1);
  const auto empty = codelet("empty").cpu([](InOut<Tile<double>>) {});
  Flow flow(runtime);
  for (std::int32_t i = 0; i < data; ++i) *flow.acquire(write(a(i, 0))).get<0>().data() = 0;
  time("empty", static_cast<std::uint64_t>(tasks), [&] {
    for (std::int64_t i = 0; i < tasks; ++i) flow.submit(empty(a(static_cast<std::int32_t>(i % data), 0)));
    flow.wait();
  });
}

void factorization(Runtime& runtime, const linalg::Kernels& kernels, std::int32_t tiles, std::int32_t side) {
  const std::int64_t n = std::int64_t{tiles} * side;
  const auto a = runtime.tiled<double>("a", n, n, side, Tiles::lower);
  Flow flow(runtime);
  for (std::int32_t j = 0; j < tiles; ++j)
    for (std::int32_t i = j; i < tiles; ++i)
      set_tile(flow.acquire(write(a(i, j))).get<0>(), i == j, static_cast<double>(n) + 1);
  time("cholesky", linalg::cholesky_tasks(tiles), [&] {
    linalg::cholesky(flow, kernels, a);
    flow.wait();
  });
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 5) {
    fmt::print(stderr, "usage: {} WORKERS EMPTY-TASKS TILES SIDE\n", argv[0]);
    return 2;
  }
  Config config = Config::from_environment();
  config.set("workers", argv[1]);
  config.set("memory", "256MiB");
  Runtime runtime(config);
  empty_tasks(runtime, std::atoll(argv[2]));
  factorization(runtime, solver::load_kernels_unchanged(config), std::atoi(argv[3]), std::atoi(argv[4]));
}
