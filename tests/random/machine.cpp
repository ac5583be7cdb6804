// One to three caches, links of random speeds; see machine.hpp.
#include "random/machine.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace fairlead::random_runs {

Topology random_machine(Random& random, const RandomProgram& program, bool tight, bool several_kinds) {
  Topology machine;
  machine.nodes = {{.name = "user memory", .role = NodeRole::home, .memory = MemoryKind::user},
                   {.name = "disk", .role = NodeRole::home, .memory = MemoryKind::store}};
  const auto caches = static_cast<std::size_t>(random.between(several_kinds ? 2 : 1, 3));
  const auto node = [](std::size_t i) { return static_cast<NodeId>(i); };
  for (std::size_t i = 0; i < caches; ++i) {
    Bytes capacity = program.largest_footprint + program.largest_hold +
                     4096 * random.below(tight ? 4 : 1 + program.all_bytes / 4096);
    if (random.once_in(10)) capacity = std::max(program.all_bytes, program.largest_footprint);
    NodeSpec spec{.name = fmt::format("cache {}", i), .role = NodeRole::cache, .capacity = capacity};
    spec.memory = i == 0 ? MemoryKind::host : MemoryKind::device;
    if (i == 0) spec.directly_accessible_homes = {node(0)};
    machine.nodes.push_back(spec);
    const auto workers = static_cast<std::size_t>(random.between(1, 3));
    const WorkerKind kind = several_kinds && i == 1 ? WorkerKind::cuda : WorkerKind::cpu;
    for (std::size_t w = 0; w < workers; ++w) machine.workers.push_back({kind, node(2 + i)});
    // A device behind the first cache: all but user memory is reached through that.
    if (i > 0 && !random.once_in(4)) {
      machine.workers.resize(machine.workers.size() - workers);
      machine.nodes.pop_back();
      add_device(machine, {.name = spec.name,
                           .kind = kind,
                           .capacity = capacity,
                           .bytes_per_second = static_cast<double>(random.between(1, 40)) * 1e8,
                           .latency = Duration(random.between(0, 3000)),
                           .workers = static_cast<unsigned>(workers)});
      for (std::size_t other = 1; other < i; ++other)
        if (random.once_in(3))
          join_peers(machine, node(2 + other), node(2 + i), 5e9, Duration(random.between(0, 3000)));
      continue;
    }
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
  // Generators: one for each node that the disk is linked to, and onwards by the physical links.
  for (std::size_t i = 0; i < caches; ++i) {
    const LinkSpec from_disk = machine.links[index(machine.link_between(node(1), node(2 + i)))];
    if (from_disk.physical_links.empty()) {
      machine.links.push_back({.name = "generator",
                               .first = node(1),
                               .second = node(2 + i),
                               .bytes_per_second = 3e8 * static_cast<double>(i + 1),
                               .concurrent_copies = static_cast<unsigned>(1 + i),
                               .is_generator = true});
    } else {
      const auto computed = std::ranges::find_if(
          machine.links, [&](const LinkSpec& l) { return l.is_generator && l.second == from_disk.through; });
      machine.join(node(1), node(2 + i),
                   {static_cast<LinkId>(computed - machine.links.begin()), from_disk.physical_links[1]},
                   from_disk.through);
      machine.links.back().is_generator = true;
    }
  }
  for (LinkSpec& link : machine.links) {
    if (!link.physical_links.empty() || link.is_generator || random.once_in(2)) continue;
    link.duplex = random.once_in(2);
    link.bytes_per_second.in = static_cast<double>(random.between(1, 40)) * 1e8;
  }
  machine.update_routes();
  return machine;
}

}  // namespace fairlead::random_runs
