// One to three caches, links of random speeds; see random_machine.hpp.
#include "sim/random_machine.hpp"

#include <fmt/format.h>

namespace fairlead::tests {

Topology random_machine(Random& random, const RandomProgram& program, bool tight, bool several_kinds) {
  Topology machine;
  machine.nodes = {{.name = "user memory", .role = NodeRole::home}, {.name = "disk", .role = NodeRole::home}};
  const auto caches = static_cast<std::size_t>(random.between(several_kinds ? 2 : 1, 3));
  const auto node = [](std::size_t i) { return static_cast<NodeId>(i); };
  for (std::size_t i = 0; i < caches; ++i) {
    Bytes capacity =
        program.largest_footprint + 4096 * random.below(tight ? 4 : 1 + program.all_bytes / 4096);
    if (random.once_in(10)) capacity = program.all_bytes;
    NodeSpec spec{.name = fmt::format("cache {}", i), .role = NodeRole::cache, .capacity = capacity};
    if (i == 0) spec.reaches = {node(0)};
    machine.nodes.push_back(spec);
    const auto workers = static_cast<std::size_t>(random.between(1, 3));
    const WorkerKind kind = several_kinds && i == 1 ? WorkerKind::cuda : WorkerKind::cpu;
    for (std::size_t w = 0; w < workers; ++w) machine.workers.push_back({kind, node(2 + i)});
    for (std::size_t home = 0; home < 2; ++home)
      machine.links.push_back({.name = "link",
                               .first = node(home),
                               .second = node(2 + i),
                               .bytes_per_second = static_cast<double>(random.between(1, 40)) * 1e8,
                               .latency = Duration(random.between(0, 3000)),
                               .concurrent_copies = static_cast<unsigned>(random.between(1, 6))});
    for (std::size_t other = 0; other < i; ++other)
      machine.links.push_back({.name = "peer",
                               .first = node(2 + other),
                               .second = node(2 + i),
                               .bytes_per_second = 5e9,
                               .concurrent_copies = static_cast<unsigned>(random.between(1, 3))});
  }
  machine.links.push_back({.name = "user to disk", .first = node(0), .second = node(1)});
  return machine;
}

}  // namespace fairlead::tests
