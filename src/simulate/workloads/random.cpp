// A random graph in layers; the same seed gives the same graph on every machine. Tasks are products of tiles; kernel:
// gemm, for any processor.
//
// A task reads a tile that a task of the previous layer wrote, so it depends on that task, and other tiles, possibly
// from much earlier layers. No other task of its layer uses a tile that it writes, so all tasks of a layer may run at
// once. There are twice as many tiles as a layer can use, to leave a choice.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "algorithms/linalg/blas/flops.hpp"
#include "base/random.hpp"
#include "simulate/longest_path.hpp"
#include "simulate/workloads/dense.hpp"
#include "simulate/workloads/list.hpp"

namespace fairlead::simulate {

namespace {

class Layers {
 public:
  Layers(std::size_t tiles, std::size_t width, std::size_t data, double written_share, std::uint64_t seed)
      : data_(data),
        write_chance_(chance(data, written_share)),
        random_(seed),
        in_layer_(tiles),
        tasks_(width) {}

  /// The uses of the next layer's tasks: reads first, then writes.
  const std::vector<std::vector<ProgramUse>>& next() {
    std::ranges::fill(in_layer_, Layer::unused);
    // First the dependencies on the previous layer, then writes, then additional reads.
    for (auto& uses : tasks_) {
      uses.clear();
      if (!written_.empty()) read(uses, written_[random_.below(written_.size())]);
    }
    written_.clear();
    for (std::size_t t = 0; t < tasks_.size(); ++t) write_some(tasks_[t]);
    for (auto& uses : tasks_) {
      while (uses.size() < data_)
        read(uses, any([&](std::size_t tile) {
               return in_layer_[tile] != Layer::written && !contains(uses, tile);
             }));
      std::stable_partition(uses.begin(), uses.end(),
                            [](const ProgramUse& use) { return !writes(use.mode); });
    }
    return tasks_;
  }

 private:
  enum class Layer : std::uint8_t { unused, read, written };

  static bool contains(const std::vector<ProgramUse>& uses, std::size_t tile) {
    return std::ranges::find(uses, static_cast<DatumIndex>(tile), &ProgramUse::datum) != uses.end();
  }
  void read(std::vector<ProgramUse>& uses, std::size_t tile) {
    in_layer_[tile] = Layer::read;
    uses.push_back({static_cast<DatumIndex>(tile), AccessMode::read});
  }
  /// One datum is always read and one written. The probability for each of the others yields the requested share of
  /// written data on average.
  static double chance(std::size_t data, double share) {
    if (data <= 2) return 0;
    return std::clamp((share * static_cast<double>(data) - 1) / static_cast<double>(data - 2), 0.0, 1.0);
  }
  void write_some(std::vector<ProgramUse>& uses) {
    std::size_t count = 1;
    for (std::size_t i = 2; i < data_; ++i) count += random_.unit() < write_chance_ ? 1 : 0;
    for (; count > 0; --count) {
      const std::size_t tile = any([&](std::size_t one) { return in_layer_[one] == Layer::unused; });
      in_layer_[tile] = Layer::written;
      written_.push_back(tile);
      uses.push_back({static_cast<DatumIndex>(tile), AccessMode::read_write});
    }
  }
  /// About half of all tiles satisfy the condition, so a few attempts suffice.
  template <class F>
  std::size_t any(F&& fits) {
    std::size_t tile = random_.below(in_layer_.size());
    while (!fits(tile)) tile = random_.below(in_layer_.size());
    return tile;
  }

  std::size_t data_;
  double write_chance_;
  Random random_;
  std::vector<Layer> in_layer_;       // by tile: its use by tasks of the current layer
  std::vector<std::size_t> written_;  // by the previous layer
  std::vector<std::vector<ProgramUse>> tasks_;
};

}  // namespace

Program make_random(const WorkloadSize& size, const PolicyOptions& options) {
  const std::int64_t width =
      options.is_set("width") ? options.integer("width", 1, 100'000) : (size.n + size.tile - 1) / size.tile;
  const std::int64_t layers = options.integer("layers", 1, 100'000), data = options.integer("data", 2, 64),
                     seed = options.integer("seed", 0, std::numeric_limits<std::int64_t>::max());
  const double written = options.number("writes", 0, 1);
  constexpr std::array<std::string_view, 2> weights{"even", "uneven"};
  const bool uneven = options.choice("weights", weights) == 1;
  Program program;
  program.title = fmt::format("random, {} layers of {}, {} data each, tile {}, {}{}, seed {}", layers, width,
                              data, size.tile, name_of(size.precision), uneven ? ", uneven" : "", seed);
  const ProgramMatrix tiles(program, "D", 2 * data * size.tile, width * size.tile, size.tile, size.precision);
  const KernelIndex gemm = program.kernel("gemm");
  const auto tile = static_cast<double>(size.tile);
  Layers graph(program.data.size(), static_cast<std::size_t>(width), static_cast<std::size_t>(data), written,
               static_cast<std::uint64_t>(seed));
  Random weight(Random::mix(static_cast<std::uint64_t>(seed)));
  for (std::int32_t layer = 0; layer < layers; ++layer)
    for (const auto& uses : graph.next()) {
      const double times = uneven ? std::exp2(4 * weight.unit() - 2) : 1;
      program.add(dense_task(gemm, times * linalg::gemm_flops(tile, tile, tile), size.tile, size.tile,
                             size.tile, 0, layer),
                  uses);
    }
  prioritize_by_longest_path(program);
  return program;
}

}  // namespace fairlead::simulate
