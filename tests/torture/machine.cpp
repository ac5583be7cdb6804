// Random machines, mostly too small.
#include "torture/machine.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "schedule/policies.hpp"

namespace fairlead::torture {
namespace {

constexpr Bytes page = 4096, least_memory = Bytes{64} << 10;

/// Between the memory of one task and that of all.
Bytes draw_capacity(Random& random, const Needs& needs) {
  switch (random.below(4)) {
    case 0:
      return static_cast<Bytes>(random.between(3, 5)) * needs.tile_bytes;
    case 1:
    case 2:
      return static_cast<Bytes>(static_cast<double>(needs.total_bytes) * (0.1 + 0.7 * random.unit()));
    default:
      return 2 * needs.total_bytes + (Bytes{1} << 20);
  }
}

std::string draw_scheduler(Random& random, std::uint64_t index) {
  const auto names = schedule::policy_names();
  const std::uint64_t which = index % (names.size() + 1);
  if (which == names.size()) return {};
  std::string name(names[which]);
  if (!random.once_in(3)) return name;
  if (name == "eager") return name + ":order=program";
  if (name == "lfq") return name + ":placeholder=" + std::to_string(random.below(5));
  if (name == "dmdas") return name + ":ready=first";
  if (name == "static") return name + ":prefetch=yes";
  if (name == "heft-tmdp" || name == "heft-tmdp-pr") return name + ":beta=2";
  if (name == "laheteroprio") return name + ":affinity=sdh2";
  if (name.starts_with("owner")) return name + ":tolerance=reuse-only";
  return name;
}

std::string draw_device(Random& random, bool peers) {
  std::vector<std::string> parts;
  if (random.once_in(3)) parts.push_back("copies=blocking");
  if (random.once_in(3)) parts.push_back("latency=0");
  if (random.once_in(4)) parts.push_back(fmt::format("bandwidth={}MB/s", random.between(500, 3000)));
  if (random.once_in(3)) parts.push_back("duplex=no");
  if (random.once_in(4)) parts.push_back("workers=2");
  if (random.once_in(4)) parts.push_back("speed=0.5");
  if (peers) parts.push_back("peers=5GB/s");
  return fmt::format("{}", fmt::join(parts, ","));
}

}  // namespace

Bytes rounded_up(Bytes bytes) { return (bytes + page - 1) / page * page; }

std::vector<std::string> Machine::words(Bytes other_memory) const {
  std::vector<std::string> words{fmt::format("--workers={}", workers),
                                 fmt::format("--memory={}", std::max(memory + other_memory, least_memory))};
  if (!scheduler.empty()) words.push_back("--scheduler=" + scheduler);
  std::vector<std::string> list;
  for (const Device& device : devices)
    list.push_back(fmt::format("emulated:memory={}{}{}", std::max(device.memory, page),
                               device.rest.empty() ? "" : ",", device.rest));
  if (!list.empty()) words.push_back(fmt::format("--devices={}", fmt::join(list, "+")));
  words.insert(words.end(), options.begin(), options.end());
  return words;
}

std::string Machine::text() const { return fmt::format("{}", fmt::join(words(), " ")); }

Config Machine::config() const {
  Config config;
  config.set("bind-threads", false);
  for (const std::string& word : words()) {
    const std::size_t equals = word.find('=');
    config.set(word.substr(2, equals - 2), word.substr(equals + 1));
  }
  return config;
}

void Machine::grow() {
  memory = std::max(2 * memory, least_memory);
  for (Device& device : devices) device.memory *= 2;
}

Machine draw_machine(Random& random, std::uint64_t index, const Needs& needs, Devices devices) {
  Machine machine;
  machine.workers = static_cast<int>(random.between(1, 4));
  machine.memory = draw_capacity(random, needs);
  machine.scheduler = draw_scheduler(random, index);
  const std::uint64_t count = devices == Devices::none     ? 0
                              : devices == Devices::always ? 1 + random.below(2)
                                                           : random.below(3);
  const bool peers = count > 1 && random.once_in(2);
  for (std::uint64_t i = 0; i < count; ++i)
    machine.devices.push_back({draw_capacity(random, needs), draw_device(random, peers)});
  auto& options = machine.options;
  if (random.once_in(4)) options.push_back("--fast-path=false");
  if (random.once_in(4)) options.push_back("--fixed-order=true");
  if (random.once_in(4)) options.push_back(fmt::format("--pipeline-depth={}", random.between(1, 8)));
  if (random.once_in(4)) options.push_back(fmt::format("--window={}", random.between(1, 64)));
  if (random.once_in(4)) options.push_back("--spin=0");
  if (random.once_in(4)) options.push_back("--disk-threads=1");
  return machine;
}

}  // namespace fairlead::torture
