// Divides the machine and the memory limit. See machine_plan.hpp.
#include "front/runtime/machine_plan.hpp"

#include <fairlead/error.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <bit>

#include "base/pages.hpp"
#include "config/memory_limit_error.hpp"
#include "config/value.hpp"
#include "machine/machine.hpp"

namespace fairlead::front {

namespace {
// Estimates for links that were not measured (fairlead calibrate).
constexpr double disk_bytes_per_second_guess = 3e9;
constexpr Duration disk_latency_guess{100'000};
constexpr Bytes largest_piece = Bytes{4} << 20;  // of a chunk that passes RAM between disk and device
}  // namespace

Bytes MachinePlan::chunk_for(Bytes limit, Bytes reserved) const {
  if (devices.empty()) return 0;
  const Bytes share = (limit - reserved) / (8 * pieces_per_device * devices.size());
  // A power of two, so that chunks are aligned with the blocks of checksums.
  return std::bit_floor(std::clamp<Bytes>(share, 4096, largest_piece));
}

Bytes MachinePlan::pool_capacity(Bytes limit, Bytes reserved) const {
  const Bytes overhead = reserved + transit_bytes(chunk_for(limit, reserved));
  return limit <= overhead ? 0 : whole_pages_in(limit - overhead);
}

Bytes MachinePlan::limit_for(Bytes wanted, Bytes reserved) const {
  Bytes limit = reserved + whole_pages_for(wanted);
  while (pool_capacity(limit, reserved) < wanted) limit += wanted - pool_capacity(limit, reserved);
  return limit;
}

void MachinePlan::bind_to(const machine::Machine& machine, bool wanted) {
  const auto& cores = machine.processors.cores;
  if (!wanted || workers > cores.size() || workers != machine.workers) return;
  for (const machine::Core& core : cores) processors.push_back(core.processing_unit);
  for (std::size_t i = 0; i < workers; ++i) topology.workers[i].domains = cores[i].domains;
}

MachinePlan plan_of(const Config& config, Bytes reserved, const backend::Backends& backends) {
  const machine::Machine machine = machine::discover();
  MachinePlan plan{.workers = 0,
                   .capacity = 0,
                   .idle_cores = 0,
                   .processors = {},
                   .devices = {},
                   .profile = {config, machine}};
  plan.workers = config.count_or("workers", machine.workers);
  const Bytes limit = config.bytes_or("memory", machine.memory.usable_bytes());
  if (limit <= reserved + 4096)
    throw config::MemoryLimitError(
        fmt::format("the memory limit of {} leaves nothing for tiles: {} are needed in addition to them.\n"
                    "  Allow more by --memory.",
                    config::readable_size(limit), config::readable_size(reserved)));
  const std::string devices = config.text_or("devices", "");
  plan.devices = backend::devices_from(devices, backends);
  if (const std::size_t used = plan.workers + plan.devices.size(); used < machine.workers)
    plan.idle_cores = machine.workers - used;
  plan.chunk = plan.chunk_for(limit, reserved);
  plan.capacity = plan.pool_capacity(limit, reserved);
  if (plan.capacity == 0)
    throw config::MemoryLimitError(
        fmt::format("the memory limit of {} leaves nothing for tiles: {} are needed in addition to them, and "
                    "transit buffers for {} "
                    "devices.\n  Allow at least {} bytes by --memory, or use fewer devices.",
                    config::readable_size(limit), config::readable_size(reserved), plan.devices.size(),
                    plan.limit_for(4096, reserved)));
  plan.topology =
      out_of_core_topology(plan.workers, plan.capacity, disk_bytes_per_second_guess, disk_latency_guess);
  plan.bind_to(machine, config.flag("bind-threads"));
  plan.profile.use_links(plan.topology);
  for (const auto& backend : backends) plan.parts.push_back(backend->make());
  backend::add_devices(plan.topology, plan.devices, plan.parts);
  return plan;
}

}  // namespace fairlead::front
