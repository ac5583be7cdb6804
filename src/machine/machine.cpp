// How many workers: one for each core that this process may use, but not more than the CPU quota pays for in
// full. With 1.5 processors a second worker would be stopped for half of the time, usually while others wait
// for what it computes.
#include "machine/machine.hpp"

#include <fmt/format.h>
#include <algorithm>
#include <cmath>

namespace fairlead::machine {

namespace {

std::string cores(std::size_t count) { return count == 1 ? "1 core" : fmt::format("{} cores", count); }

void choose_workers(Machine& machine) {
  const Processors& p = machine.processors;
  const std::size_t allowed = p.cores.size();
  machine.workers = static_cast<unsigned>(allowed);
  if (allowed < p.cores_present)
    machine.workers_because = fmt::format(
        "{} of {}: this process may not run on the others (affinity mask: taskset, cpuset or a batch system)",
        allowed, cores(p.cores_present));
  else
    machine.workers_because = allowed == 1 ? "the only core" : fmt::format("all {}", cores(allowed));
  if (p.hardware_threads > allowed)
    machine.workers_because += fmt::format(
        "; one worker for each core, not for each of its {} hardware threads", p.hardware_threads);
  if (!machine.cpu_quota) return;
  constexpr double rounding = 0.05;  // 1.99 processors are two
  const double quota = machine.cpu_quota->processors;
  const auto paid = static_cast<std::size_t>(std::max(1.0, std::floor(std::min(quota, 1e9) + rounding)));
  if (paid > allowed || (paid == allowed && quota + rounding >= static_cast<double>(allowed))) return;
  machine.workers = static_cast<unsigned>(paid);
  machine.workers_because = fmt::format("{} of {}: the CPU quota is {:.3g} ({})", paid,
                                        cores(p.cores_present), quota, machine.cpu_quota->source);
}

}  // namespace

Machine discover(const DiscoverOptions& options) {
  const SystemFiles files(options.root);
  Machine machine{.processors = processors(options.synthetic_processors),
                  .cpu_quota = cpu_quota(files),
                  .workers_because = {},
                  .memory = memory(files),
                  .pages = pages(files)};
  // Memory that came after boot is in no node's count; with one node it can only be there.
  if (machine.processors.numa_nodes.size() == 1)
    machine.processors.numa_nodes.front().memory_bytes = machine.memory.total_bytes;
  choose_workers(machine);
  machine.memory = memory(files, machine.workers);
  return machine;
}

}  // namespace fairlead::machine
