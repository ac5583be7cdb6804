// Heat diffusion on a plate with value 0 at the rim: in each step every cell becomes the mean of its four neighbours.
// The result is bitwise identical to that of a plain loop. The plate may exceed the memory limit
// (FAIRLEAD_MEMORY=64MiB). Each task advances its tile by several steps, with a border of as many cells from the
// neighbouring tiles, so a tile is read from disk once for all these steps. CUDA devices
// (FAIRLEAD_DEVICES=cuda:0,memory=64MiB) use the kernels of heat.cu, loaded from the output of nvcc.
//
//   stencil [CELLS [STEPS [TILE [STEPS_AT_ONCE [KERNELS]]]]]
#include <fairlead/cuda.hpp>
#include <fairlead/fairlead.hpp>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

using namespace fairlead;

namespace {

using Cells = In<Tile<double>>;

double first_heat(std::int64_t i, std::int64_t j) {
  return static_cast<double>((i * 7919 + j * 104729) % 1000);
}

/// The position of a tile, and the number of steps.
struct Place {
  std::int64_t row = 0, column = 0, cells = 0;  // the tile's corner; the side of the plate
  int steps = 0;
  /// The extent of the plate relative to the tile's corner: first row, end of rows, first column, end of columns.
  std::array<int, 4> plate() const {
    return {static_cast<int>(-row), static_cast<int>(cells - row), static_cast<int>(-column),
            static_cast<int>(cells - column)};
  }
};

/// The cells of a tile with a border of `border` cells around it.
std::int64_t cells_of_patch(std::int64_t rows, std::int64_t columns, int border) {
  return (rows + 2 * border) * (columns + 2 * border);
}

/// A tile with its border, advanced step by step; cells outside the plate stay 0.
class Patch {
 public:
  /// `memory`: space for two patches.
  Patch(int rows, int columns, int border, double* memory)
      : rows_(rows + 2 * border),
        columns_(columns + 2 * border),
        border_(border),
        now_(memory),
        next_(memory + cells_of_patch(rows, columns, border)) {
    std::fill(now_, next_, 0);
  }
  /// Rows and columns count from the corner of the tile; in the border they are negative or beyond the tile.
  double& at(int i, int j) { return now_[index(i + border_, j + border_)]; }
  /// Advances the valid cells by one step. After each step one more layer of the border is invalid.
  void step(int done, const std::array<int, 4>& plate) {
    for (int j = done + 1; j < columns_ - done - 1; ++j)
      for (int i = done + 1; i < rows_ - done - 1; ++i) {
        const int row = i - border_, column = j - border_;
        const bool inside = row >= plate[0] && row < plate[1] && column >= plate[2] && column < plate[3];
        next_[index(i, j)] = inside ? 0.25 * ((now_[index(i - 1, j)] + now_[index(i + 1, j)]) +
                                              (now_[index(i, j - 1)] + now_[index(i, j + 1)]))
                                    : 0;
      }
    std::swap(now_, next_);
  }

 private:
  std::ptrdiff_t index(int i, int j) const { return i + static_cast<std::ptrdiff_t>(j) * rows_; }
  int rows_, columns_, border_;
  double *now_, *next_;
};

/// Calls fill(tile, row, column) for the tile and its existing neighbours; (row, column) is the corner of each,
/// relative to the tile's corner.
template <class Fill>
void for_each_tile(const Cells& nw, const Cells& n, const Cells& ne, const Cells& w, const Cells& here,
                   const Cells& e, const Cells& sw, const Cells& s, const Cells& se, const Place& place,
                   Fill fill) {
  const int rows = here.rows(), columns = here.columns();
  const bool north = place.row > 0, south = place.row + rows<place.cells, west = place.column> 0,
             east = place.column + columns < place.cells;
  fill(here, 0, 0);
  if (north) fill(n, -n.rows(), 0);
  if (south) fill(s, rows, 0);
  if (west) fill(w, 0, -w.columns());
  if (east) fill(e, 0, columns);
  if (north && west) fill(nw, -nw.rows(), -nw.columns());
  if (north && east) fill(ne, -ne.rows(), columns);
  if (south && west) fill(sw, rows, -sw.columns());
  if (south && east) fill(se, rows, columns);
}

void advance(Cells nw, Cells n, Cells ne, Cells w, Cells here, Cells e, Cells sw, Cells s, Cells se,
             Out<Tile<double>> next, Place place, Scratch<double> memory) {
  const int rows = here.rows(), columns = here.columns(), border = place.steps;
  Patch patch(rows, columns, border, memory.data());
  for_each_tile(nw, n, ne, w, here, e, sw, s, se, place, [&](const Cells& from, int row, int column) {
    for (int j = std::max(column, -border); j < std::min(column + from.columns(), columns + border); ++j)
      for (int i = std::max(row, -border); i < std::min(row + from.rows(), rows + border); ++i)
        patch.at(i, j) = from(i - row, j - column);
  });
  for (int step = 0; step < place.steps; ++step) patch.step(step, place.plate());
  for (int j = 0; j < columns; ++j)
    for (int i = 0; i < rows; ++i) next(i, j) = patch.at(i, j);
}

/// advance() for CUDA devices, with the kernels of heat.cu. Kernels in a stream run one after the other.
auto advance_there(const CudaModule& heat) {
  return [clear = heat["heat_clear"], fill = heat["heat_fill"], step = heat["heat_step"],
          take = heat["heat_take"]](CudaStream stream, Cells nw, Cells n, Cells ne, Cells w, Cells here,
                                    Cells e, Cells sw, Cells s, Cells se, Out<Tile<double>> next, Place place,
                                    Scratch<double> memory) {
    const int border = place.steps, rows = here.rows() + 2 * border, columns = here.columns() + 2 * border;
    const auto grid = [](int of_columns) { return cuda_grid(static_cast<unsigned>(of_columns), 128); };
    double *now = memory.data(), *then = now + cells_of_patch(here.rows(), here.columns(), border);
    stream.run(clear, grid(columns), now, rows, columns);
    for_each_tile(nw, n, ne, w, here, e, sw, s, se, place, [&](const Cells& from, int row, int column) {
      stream.run(fill, grid(from.columns()), now, rows, columns, border, from.data(), from.rows(),
                 from.columns(), row, column);
    });
    const auto plate = place.plate();
    for (int done = 0; done < place.steps; ++done) {
      stream.run(step, grid(columns), static_cast<const double*>(now), then, rows, columns, border, done,
                 plate[0], plate[1], plate[2], plate[3]);
      std::swap(now, then);
    }
    stream.run(take, grid(next.columns()), static_cast<const double*>(now), rows, border, next.data(),
               next.rows(), next.columns());
  };
}

std::string content_of(const std::string& file) {
  std::ifstream in(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
}

std::vector<double> plainly(std::int64_t cells, int steps) {
  const auto at = [side = cells + 2](std::int64_t i, std::int64_t j) {
    return static_cast<std::size_t>(i + 1 + (j + 1) * side);
  };
  std::vector<double> now(static_cast<std::size_t>((cells + 2) * (cells + 2))), next = now;
  for (std::int64_t j = 0; j < cells; ++j)
    for (std::int64_t i = 0; i < cells; ++i) now[at(i, j)] = first_heat(i, j);
  for (int step = 0; step < steps; ++step) {
    for (std::int64_t j = 0; j < cells; ++j)
      for (std::int64_t i = 0; i < cells; ++i)
        next[at(i, j)] =
            0.25 * ((now[at(i - 1, j)] + now[at(i + 1, j)]) + (now[at(i, j - 1)] + now[at(i, j + 1)]));
    std::swap(now, next);
  }
  std::vector<double> plate;
  for (std::int64_t j = 0; j < cells; ++j)
    for (std::int64_t i = 0; i < cells; ++i) plate.push_back(now[at(i, j)]);
  return plate;
}

}  // namespace

int main(int count, char** arguments) {
  const auto argument = [&](int i, int otherwise) { return count > i ? std::atoi(arguments[i]) : otherwise; };
  const int cells = argument(1, 1000), steps = argument(2, 24), tile = argument(3, 128),
            at_once = argument(4, 8);
  if (cells < 1 || steps < 0 || at_once < 1 || tile < at_once) {
    std::fprintf(stderr,
                 "stencil [CELLS [STEPS [TILE [STEPS_AT_ONCE [KERNELS]]]]], and a tile is at least as wide "
                 "as these\n");
    return 2;
  }
  // Unless it is the only tile, the last one must be at least as wide as the border that its neighbours read.
  const int last = cells % tile;
  if (last != 0 && last < at_once && cells > tile) {
    std::fprintf(stderr, "the last tile has %d cells, fewer than %d steps at once need\n", last, at_once);
    return 2;
  }
  try {
    Runtime runtime;
    std::array plates{runtime.tiled<double>("even", cells, cells, tile),
                      runtime.tiled<double>("odd", cells, cells, tile)};
    const auto begin = codelet("begin").cpu([](Out<Tile<double>> t, std::int64_t row, std::int64_t column) {
      for (int j = 0; j < t.columns(); ++j)
        for (int i = 0; i < t.rows(); ++i) t(i, j) = first_heat(row + i, column + j);
    });
    const auto on_cores = codelet("step").cpu(advance);
    const std::string kernels =
        content_of(count > 5 ? arguments[5] : HEAT_KERNELS);  // empty: nvcc was not available
    const CudaModule there(kernels, {"heat_clear", "heat_fill", "heat_step", "heat_take"});
    const auto step = kernels.empty() ? on_cores : on_cores.cuda(advance_there(there));
    const auto began = std::chrono::steady_clock::now();
    Flow flow(runtime);
    const int tiles = (cells + tile - 1) / tile;
    for (int j = 0; j < tiles; ++j)
      for (int i = 0; i < tiles; ++i)
        flow.submit(begin(plates[0](i, j), std::int64_t{i} * tile, std::int64_t{j} * tile));
    int round = 0;
    for (int done = 0; done < steps; done += at_once, ++round) {
      auto &now = plates[static_cast<std::size_t>(round % 2)],
           &next = plates[static_cast<std::size_t>((round + 1) % 2)];
      // At the rim there is no neighbour; the nearest tile takes its place and is not read.
      const auto near = [&](int i, int j) {
        return now(std::clamp(i, 0, tiles - 1), std::clamp(j, 0, tiles - 1));
      };
      for (int j = 0; j < tiles; ++j)
        for (int i = 0; i < tiles; ++i)
          flow.submit(step(
              near(i - 1, j - 1), near(i - 1, j), near(i - 1, j + 1), near(i, j - 1), now(i, j),
              near(i, j + 1), near(i + 1, j - 1), near(i + 1, j), near(i + 1, j + 1), next(i, j),
              Place{std::int64_t{i} * tile, std::int64_t{j} * tile, cells, std::min(at_once, steps - done)},
              scratch(2 *
                      cells_of_patch(now.rows_of(i), now.columns_of(j), std::min(at_once, steps - done)))));
    }
    flow.wait();
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - began;
    const std::vector<double> right = plainly(cells, steps);
    std::int64_t wrong = 0;
    double heat = 0;
    for (int j = 0; j < tiles; ++j)
      for (int i = 0; i < tiles; ++i) {
        const auto held = flow.acquire(read(plates[static_cast<std::size_t>(round % 2)](i, j)));
        const auto& t = held.get<0>();
        for (int c = 0; c < t.columns(); ++c)
          for (int r = 0; r < t.rows(); ++r) {
            const std::int64_t row = std::int64_t{i} * tile + r, column = std::int64_t{j} * tile + c;
            wrong += t(r, c) != right[static_cast<std::size_t>(row + column * cells)];
            heat += t(r, c);
          }
      }
    std::printf("%d x %d cells, %d steps in %.2f s: mean heat %.6f, %lld cells differ from a plain loop's\n",
                cells, cells, steps, took.count(), heat / (static_cast<double>(cells) * cells),
                static_cast<long long>(wrong));
    return wrong == 0 ? 0 : 1;
  } catch (const Error& error) {
    std::fprintf(stderr, "stencil: %s\n", error.what());
    return 1;
  }
}
