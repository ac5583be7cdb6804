// A 3-D stencil as in StarPU's example (Augonnet, Clet-Ortega, Thibault, Namyst 2010: 256 x 256 x 4096 in 64 blocks).
// Kernels: stencil and save_border, for any processor.
//
// A block is one datum: two layers, old and new, with space for the neighbours' planes. Its two borders of `border`
// planes are separate data, so that blocks need not be transferred. A stencil task reads the borders of its neighbours
// and makes `border` steps in a row, recomputing the neighbours' planes as long as it needs them. Before it, one task
// per side saves the block's own border. This task counts one operation per copied cell, so a machine's rate for
// save_border is in cells per second.
#include <fmt/format.h>

#include "simulate/longest_path.hpp"
#include "simulate/workloads/list.hpp"
#include "simulate/workloads/slab_decomposition.hpp"

namespace fairlead::simulate {

namespace {

struct Block {
  DatumIndex layers, bottom, top;
};

}  // namespace

Program make_stencil(const WorkloadSize& size, const PolicyOptions& options) {
  const std::int64_t width = options.integer("width", 1, 1'000'000),
                     height = options.integer("height", 1, 1'000'000),
                     border = options.integer("border", 1, 1'000'000),
                     iterations = options.integer("iterations", 1, 100'000);
  const double flops = options.number("flops", 1e-3, 1e9);
  const SlabDecomposition slabs(size, width * height);
  if (border > slabs.fewest_planes())
    options.refuse("border",
                   fmt::format("is {}, but the last block has {} planes", border, slabs.fewest_planes()));
  Program program;
  program.title = fmt::format("stencil, {} x {} x {} in {} blocks, border of {}, {} iterations, {}", width,
                              height, size.n, slabs.count(), border, iterations, name_of(size.precision));
  program.tiles = slabs.count();
  const Bytes element = element_bytes(size.precision);
  const std::int16_t layers = program.collection("blocks"), bottom = program.collection("bottoms"),
                     top = program.collection("tops");
  std::vector<Block> blocks;
  for (std::int32_t b = 0; b < slabs.count(); ++b) {
    const auto datum = [&](std::int16_t collection, std::int64_t planes, bool has_value) {
      return program.datum({.bytes = slabs.bytes(planes, element),
                            .collection = collection,
                            .row = b,
                            .column = 0,
                            .has_value = has_value});
    };
    blocks.push_back({.layers = datum(layers, 2 * (slabs.planes(b) + 2 * border), true),
                      .bottom = datum(bottom, border, false),
                      .top = datum(top, border, false)});
  }

  const KernelIndex update = program.kernel("stencil"), save = program.kernel("save_border");
  const auto save_borders = [&](std::int32_t iteration) {
    for (const Block& block : blocks)
      for (const DatumIndex side : {block.top, block.bottom})
        program.task(SlabDecomposition::task(save, slabs.cells(border), 1, iteration),
                     {{block.layers, AccessMode::read}, {side, AccessMode::write}});
  };
  for (std::int64_t done = 0; done < iterations; done += border) {
    const auto iteration = static_cast<std::int32_t>(done);
    save_borders(iteration);
    const std::int64_t steps = std::min(border, iterations - done);
    for (std::int32_t b = 0; b < slabs.count(); ++b) {
      const std::int64_t planes = steps * slabs.planes(b) + steps * (steps - 1);
      program.task(SlabDecomposition::task(update, slabs.cells(planes), flops, iteration),
                   {{blocks[static_cast<std::size_t>(slabs.below(b))].top, AccessMode::read},
                    {blocks[static_cast<std::size_t>(slabs.above(b))].bottom, AccessMode::read},
                    {blocks[static_cast<std::size_t>(b)].layers, AccessMode::read_write}});
    }
  }
  prioritize_by_longest_path(program);
  return program;
}

}  // namespace fairlead::simulate
