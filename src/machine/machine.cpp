// Detects the machine and chooses the number of workers: one per allowed core, but at most as many as the CPU quota
// covers fully. With 1.5 processors, a second worker would be throttled for half of the time, usually while other
// tasks wait for its results.
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
    machine.workers_reason = fmt::format(
        "{} of {}: this process may not run on the others (affinity mask: taskset, cpuset or a batch system)",
        allowed, cores(p.cores_present));
  else
    machine.workers_reason = allowed == 1 ? "the only core" : fmt::format("all {}", cores(allowed));
  if (p.hardware_threads > allowed)
    machine.workers_reason += fmt::format(
        "; one worker for each core, not for each of its {} hardware threads", p.hardware_threads);
  if (!machine.cpu_quota) return;
  constexpr double rounding = 0.05;  // 1.99 processors count as two
  const double quota = machine.cpu_quota->processors;
  const auto paid = static_cast<std::size_t>(std::max(1.0, std::floor(std::min(quota, 1e9) + rounding)));
  if (paid > allowed || (paid == allowed && quota + rounding >= static_cast<double>(allowed))) return;
  machine.workers = static_cast<unsigned>(paid);
  machine.workers_reason = fmt::format("{} of {}: the CPU quota is {:.3g} ({})", paid, cores(p.cores_present),
                                       quota, machine.cpu_quota->source);
}

}  // namespace

Machine discover(const DiscoverOptions& options) {
  const SystemFiles files(options.root);
  Machine machine{.processors = detect_processors(options.synthetic_processors),
                  .cpu_quota = cpu_quota(files),
                  .workers_reason = {},
                  .memory = {},
                  .pages = detect_pages(files)};
  choose_workers(machine);
  machine.memory = detect_memory(files, machine.workers);
  // Memory added after boot is missing in the counts per node; with one node it must be there.
  if (machine.processors.numa_nodes.size() == 1)
    machine.processors.numa_nodes.front().memory_bytes = machine.memory.total_bytes;
  return machine;
}

}  // namespace fairlead::machine
