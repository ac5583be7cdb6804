// Heat diffusion in a bar surrounded by 0: in each step every cell becomes the mean of its six neighbours. The result
// is bitwise identical to that of a plain loop. The bar is divided into blocks of planes, which are distributed over
// the ranks of mpirun. Each rank may have less memory than its blocks need (FAIRLEAD_MEMORY=64MiB). The first and last
// planes of a block are separate data that its neighbours read, so only these are sent between ranks. Their number is
// the number of steps by which a task advances a block (K, the size of the border, in Augonnet et al. 2010). A larger
// border means fewer messages, but more planes that are computed twice.
//
//   stencil_3d [SIDE [PLANES [BLOCKS [STEPS [BORDER]]]]]            of SIDE x SIDE x PLANES cells
//   mpirun -n 4 stencil_3d 256 4096 64 16 4
#include <fairlead/fairlead.hpp>
#include <fairlead/ranks.hpp>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <utility>
#include <vector>

using namespace fairlead;

namespace {

/// Some planes of the bar, each of side x side cells: a column of a tile is a plane.
using Planes = Tile<double>;

struct Bar {
  int side = 64, planes = 96, blocks = 8, steps = 24, border = 4;

  int depth() const { return (planes + blocks - 1) / blocks; }  // planes per block; the last block may have
                                                                // fewer
  int last_depth() const { return planes - (blocks - 1) * depth(); }
  int cells_of_plane() const { return side * side; }
};

double first_heat(std::int64_t cell, std::int64_t plane) {
  return static_cast<double>((cell * 7919 + plane * 104729) % 1000);
}

/// Computes planes `first` to `end` - 1 of `to` from the same planes of `from` and their neighbours; planes outside the
/// bar are set to 0.
void step(const std::vector<double>& from, std::vector<double>& to, int side, int first, int end,
          int bar_begin, int bar_end) {
  const auto row = static_cast<std::size_t>(side), plane = row * row;
  for (int k = first; k < end; ++k) {
    const std::size_t here = static_cast<std::size_t>(k) * plane;
    if (k < bar_begin || k >= bar_end) {
      std::fill_n(to.begin() + static_cast<std::ptrdiff_t>(here), plane, 0.0);
      continue;
    }
    for (int j = 0; j < side; ++j)
      for (int i = 0; i < side; ++i) {
        const std::size_t at = here + static_cast<std::size_t>(j) * row + static_cast<std::size_t>(i);
        const double x = (i > 0 ? from[at - 1] : 0) + (i + 1 < side ? from[at + 1] : 0);
        const double y = (j > 0 ? from[at - row] : 0) + (j + 1 < side ? from[at + row] : 0);
        to[at] = (x + y + (from[at - plane] + from[at + plane])) / 6;
      }
  }
}

/// Advances a block by `steps`, at most the border. The block has a border on both sides, of which one more plane is
/// invalid after each step. Then stores the planes that the neighbours read.
void advance(In<Planes> before, InOut<Planes> block, In<Planes> after, Out<Planes> low, Out<Planes> high,
             int first_plane, int steps, Bar bar) {
  const int border = bar.border, depth = block.columns();
  const auto plane = static_cast<std::size_t>(bar.cells_of_plane());
  std::vector<double> now(static_cast<std::size_t>(depth + 2 * border) * plane), next(now.size());
  const auto put = [&](const auto& from, int columns, int at) {
    for (int k = 0; k < columns; ++k)
      std::copy_n(&from(0, k), plane,
                  now.begin() + static_cast<std::ptrdiff_t>(static_cast<std::size_t>(at + k) * plane));
  };
  const int bar_begin = border - first_plane,
            bar_end = bar_begin + bar.planes;  // in the numbering of the planes here
  if (first_plane > 0) put(before, border, 0);
  put(block, depth, border);
  if (first_plane + depth < bar.planes) put(after, border, border + depth);
  for (int done = 1; done <= steps; ++done) {
    step(now, next, bar.side, done, depth + 2 * border - done, bar_begin, bar_end);
    std::swap(now, next);
  }
  const auto take = [&](const auto& to, int columns, int from) {
    for (int k = 0; k < columns; ++k)
      std::copy_n(now.begin() + static_cast<std::ptrdiff_t>(static_cast<std::size_t>(from + k) * plane),
                  plane, &to(0, k));
  };
  take(block, depth, border);
  take(low, border, border);
  take(high, border, depth);
}

/// With a plane of 0 at both ends.
std::vector<double> plainly(const Bar& bar) {
  const auto plane = static_cast<std::size_t>(bar.cells_of_plane());
  std::vector<double> now(static_cast<std::size_t>(bar.planes + 2) * plane), next(now.size());
  for (int k = 0; k < bar.planes; ++k)
    for (std::size_t cell = 0; cell < plane; ++cell)
      now[static_cast<std::size_t>(k + 1) * plane + cell] = first_heat(static_cast<std::int64_t>(cell), k);
  for (int done = 0; done < bar.steps; ++done) {
    step(now, next, bar.side, 1, bar.planes + 1, 1, bar.planes + 1);
    std::swap(now, next);
  }
  return now;
}

int compute(const Bar& bar) {
  Runtime runtime(Config::from_environment(), launched_rank());
  // Contiguous blocks for each rank, so that few of them have neighbours on other ranks.
  const Distribution in_rows(
      [blocks = bar.blocks, ranks = static_cast<int>(runtime.ranks())](std::int32_t, std::int32_t block) {
        return static_cast<std::uint32_t>(std::int64_t{block} * ranks / blocks);
      });
  const int plane = bar.cells_of_plane();
  const auto blocks = runtime.tiled<double>("block", plane, bar.planes, {plane, bar.depth()}, in_rows);
  const auto borders = [&](const char* name) {
    return runtime.tiled<double>(name, plane, std::int64_t{bar.blocks} * bar.border, {plane, bar.border},
                                 in_rows);
  };
  // Two of each: tasks read those of one round while they write those of the next.
  const std::array low{borders("low even"), borders("low odd")},
      high{borders("high even"), borders("high odd")};

  const auto begin =
      codelet("begin").cpu([](Out<Planes> block, Out<Planes> low, Out<Planes> high, int first_plane) {
        for (int k = 0; k < block.columns(); ++k)
          for (int cell = 0; cell < block.rows(); ++cell) block(cell, k) = first_heat(cell, first_plane + k);
        for (int k = 0; k < low.columns(); ++k)
          for (int cell = 0; cell < block.rows(); ++cell) {
            low(cell, k) = block(cell, k);
            high(cell, k) = block(cell, block.columns() - low.columns() + k);
          }
      });
  const auto take_further = codelet("advance").cpu(advance);

  const auto began = std::chrono::steady_clock::now();
  Flow flow(runtime);
  for (int b = 0; b < bar.blocks; ++b)
    flow.submit(begin(blocks(0, b), low[0](0, b), high[0](0, b), b * bar.depth()));
  std::size_t now = 0;
  for (int done = 0; done < bar.steps; done += bar.border, now = 1 - now)
    for (int b = 0; b < bar.blocks;
         ++b)  // at the ends there is no neighbour, and the planes passed instead are not read
      flow.submit(take_further(high[now](0, std::max(b - 1, 0)), blocks(0, b),
                               low[now](0, std::min(b + 1, bar.blocks - 1)), low[1 - now](0, b),
                               high[1 - now](0, b), b * bar.depth(), std::min(bar.border, bar.steps - done),
                               bar));
  flow.wait();
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - began;

  const std::vector<double> right = plainly(bar);
  std::int64_t wrong = 0, looked_at = 0;
  for (int b = 0; b < bar.blocks; ++b) {
    if (in_rows.owner(0, b) != runtime.rank()) continue;
    const auto held = flow.acquire(read(blocks(0, b)));
    const auto& block = held.get<0>();
    for (int k = 0; k < block.columns(); ++k)
      for (int cell = 0; cell < plane; ++cell, ++looked_at)
        wrong += block(cell, k) !=
                 right[static_cast<std::size_t>(b * bar.depth() + k + 1) * static_cast<std::size_t>(plane) +
                       static_cast<std::size_t>(cell)];
  }
  const Statistics statistics = runtime.statistics();
  std::printf(
      "rank %u of %u: %d steps in %.2f s, %.1f MB went to other ranks, %lld of %lld cells differ from a "
      "plain loop's\n",
      runtime.rank(), runtime.ranks(), bar.steps, took.count(),
      static_cast<double>(statistics.network.payload_bytes) * 1e-6, static_cast<long long>(wrong),
      static_cast<long long>(looked_at));
  return wrong == 0 ? 0 : 1;
}

}  // namespace

int main(int count, char** arguments) {
  Bar bar;
  const std::array<int*, 5> given{&bar.side, &bar.planes, &bar.blocks, &bar.steps, &bar.border};
  for (std::size_t i = 0; i < given.size() && static_cast<int>(i) + 1 < count; ++i)
    *given[i] = std::atoi(arguments[i + 1]);
  if (std::min({bar.side, bar.planes, bar.blocks, bar.steps, bar.border}) < 1 || bar.side > 20'000) {
    std::fprintf(stderr, "stencil_3d [SIDE [PLANES [BLOCKS [STEPS [BORDER]]]]], each at least 1\n");
    return 2;
  }
  if (bar.last_depth() < bar.border) {
    std::fprintf(stderr,
                 "%d blocks of %d planes leave %d for the last one: it needs as many as the border, %d\n",
                 bar.blocks - 1, bar.depth(), std::max(bar.last_depth(), 0), bar.border);
    return 2;
  }
  try {
    return compute(bar);
  } catch (const Error& error) {
    std::fprintf(stderr, "stencil_3d: %s\n", error.what());
    return 1;
  }
}
