// The game of life in three dimensions (Bramas 2019, "Applications": StarPU's stencil example on 1024^3 cells, 32
// iterations), with one type of task for any processor. Kernel: life.
//
// Cells are bytes. A block of planes has two layers; a task reads one and writes the other. With exchange=planes it
// also writes the block's outermost planes as separate data, the only ones that its neighbours read. StarPU's example
// has separate task types for that (see stencil.cpp); the paper has one type. With exchange=blocks neighbours read
// whole blocks: "each block is written once per iteration and read only to compute the close neighbors".
#include <fmt/format.h>

#include <array>

#include "simulate/longest_path.hpp"
#include "simulate/workloads/list.hpp"
#include "simulate/workloads/slab_decomposition.hpp"

namespace fairlead::simulate {

namespace {

/// One of the two layers of a block; the borders exist only with exchange=planes.
struct Layer {
  DatumIndex cells, bottom{}, top{};
};

class Grid {
 public:
  Grid(Program& program, const SlabDecomposition& slabs, bool planes) {
    for (const bool is_first : {true, false}) {
      const std::string_view suffix = is_first ? "" : " of the other layer";
      const auto collection = [&](std::string_view name) {
        return program.collection(fmt::format("{}{}", name, suffix));
      };
      const std::int16_t cells = collection("blocks"), bottom = planes ? collection("bottoms") : cells,
                         top = planes ? collection("tops") : cells;
      for (std::int32_t b = 0; b < slabs.count(); ++b) {
        const auto datum = [&](std::int16_t of, std::int64_t count) {
          return program.datum({.bytes = slabs.bytes(count, 1),
                                .collection = of,
                                .row = b,
                                .column = 0,
                                .has_value = is_first});
        };
        // Space for the neighbours' planes.
        Layer layer{.cells = datum(cells, slabs.planes(b) + (planes ? 2 : 0))};
        if (planes) {
          layer.bottom = datum(bottom, 1);
          layer.top = datum(top, 1);
        }
        layers_[is_first ? 0 : 1].push_back(layer);
      }
    }
  }
  const Layer& operator()(std::int64_t iteration, std::int32_t block) const {
    return layers_[static_cast<std::size_t>(iteration % 2)][static_cast<std::size_t>(block)];
  }

 private:
  std::array<std::vector<Layer>, 2> layers_;
};

}  // namespace

Program make_life(const WorkloadSize& size, const PolicyOptions& options) {
  constexpr std::array<std::string_view, 2> exchanges{"planes", "blocks"};
  const bool planes = options.choice("exchange", exchanges) == 0;
  const std::int64_t iterations = options.integer("iterations", 1, 100'000);
  const double flops = options.number("flops", 1e-3, 1e9);
  const SlabDecomposition slabs(size, size.n * size.n);
  Program program;
  program.title = fmt::format("life, {}^3 in {} blocks, {} iterations, exchanging {}", size.n, slabs.count(),
                              iterations, options.text("exchange"));
  program.tiles = slabs.count();
  const Grid grid(program, slabs, planes);
  const KernelIndex life = program.kernel("life");
  std::vector<ProgramUse> uses;
  for (std::int64_t t = 0; t < iterations; ++t)
    for (std::int32_t b = 0; b < slabs.count(); ++b) {
      const std::int32_t below = slabs.below(b), above = slabs.above(b);
      uses = {{grid(t, b).cells, AccessMode::read}, {grid(t + 1, b).cells, AccessMode::write}};
      if (planes) {
        uses.push_back({grid(t, below).top, AccessMode::read});
        uses.push_back({grid(t, above).bottom, AccessMode::read});
        uses.push_back({grid(t + 1, b).bottom, AccessMode::write});
        uses.push_back({grid(t + 1, b).top, AccessMode::write});
      } else {
        if (below != b) uses.push_back({grid(t, below).cells, AccessMode::read});
        if (above != b && above != below) uses.push_back({grid(t, above).cells, AccessMode::read});
      }
      program.add(
          SlabDecomposition::task(life, slabs.cells(slabs.planes(b)), flops, static_cast<std::int32_t>(t)),
          uses);
    }
  prioritize_by_longest_path(program);
  return program;
}

}  // namespace fairlead::simulate
