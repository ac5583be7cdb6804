// The cost of another rank's task in a flow over ranks: ns of processor time of the program's thread per
// task, with all its work in the program (handles, the call, the submission). The tasks are those of a
// product of tiles; all belong to rank 1, and rank 0 is measured. At most as many at a time as it may run
// ahead, so that it never waits.
#include <fairlead/fairlead.hpp>
#include <fairlead/ranks.hpp>

#include <algorithm>
#include <cstdio>
#include <ctime>
#include <thread>
#include <vector>

using namespace fairlead;

namespace {
constexpr std::int32_t tiles = 40;  // 64,000 tasks: 63 blocks
constexpr int repetitions = 7;

double thread_seconds() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

struct Times {
  std::vector<double> whole, handles;  // ns per task, and the part for its three handles
};

void rank(const Rank& place, Times& times) {
  Config config;
  config.set("workers", 1);
  config.set("memory", "64MiB");
  config.set("bind-threads", false);
  Runtime runtime(config, place);
  const Distribution all_of_one([](std::int32_t, std::int32_t) { return 1u; });
  constexpr std::int32_t tile = 8;
  const auto a = runtime.tiled<double>("A", tiles * tile, tiles * tile, tile, all_of_one);
  const auto b = runtime.tiled<double>("B", tiles * tile, tiles * tile, tile, all_of_one);
  const auto c = runtime.tiled<double>("C", tiles * tile, tiles * tile, tile, all_of_one);
  const auto zero = codelet("zero").cpu([](Out<Tile<double>> t) { t(0, 0) = 0; });
  const auto gemm =
      codelet("gemm").cpu([](In<Tile<double>>, In<Tile<double>>, InOut<Tile<double>>, double, double) {});
  Flow flow(runtime);
  for (const auto* m : {&a, &b, &c})
    for (std::int32_t i = 0; i < tiles; ++i)
      for (std::int32_t j = 0; j < tiles; ++j) flow.submit(zero((*m)(i, j)));
  flow.wait();
  for (int repetition = 0; repetition < repetitions; ++repetition) {
    const double begin = thread_seconds();
    for (std::int32_t k = 0; k < tiles; ++k)
      for (std::int32_t i = 0; i < tiles; ++i)
        for (std::int32_t j = 0; j < tiles; ++j)
          flow.submit(gemm(a(i, k), b(k, j), c(i, j), 1.0, 1.0).priority(k));
    const double seconds = thread_seconds() - begin;
    times.whole.push_back(1e9 * seconds / (double{tiles} * tiles * tiles));
    flow.wait();
    volatile std::int32_t sink = 0;
    const double handles_begin = thread_seconds();
    for (std::int32_t k = 0; k < tiles; ++k)
      for (std::int32_t i = 0; i < tiles; ++i)
        for (std::int32_t j = 0; j < tiles; ++j)
          sink = sink + a(i, k).rows() + b(k, j).rows() + c(i, j).rows();
    times.handles.push_back(1e9 * (thread_seconds() - handles_begin) / (double{tiles} * tiles * tiles));
  }
}
}  // namespace

int main() {
  const std::vector<Rank> places = ranks_in_process(2);
  Times of_others, own;
  std::thread other([&] { rank(places[1], own); });
  rank(places[0], of_others);
  other.join();
  std::printf("%d x %d tasks; ns of the program's thread per task, median (least) of %d\n", repetitions,
              tiles * tiles * tiles, repetitions);
  const auto print = [](const char* what, std::vector<double> values) {
    std::ranges::sort(values);
    std::printf("%-32s %6.1f (%.1f)\n", what, values[repetitions / 2], values[0]);
  };
  print("of another rank", of_others.whole);
  print("  for handles of tiles", of_others.handles);
  print("own, including those that it runs", own.whole);
}
