// See config_warnings.hpp.
#include "front/runtime/config_warnings.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <utility>

#include "config/value.hpp"
#include "schedule/policies.hpp"

namespace fairlead::front {

namespace {
constexpr std::uint64_t many = 2;  // workers for each hardware thread: more only take turns
}

std::vector<std::string> config_warnings(const Config& config, const machine::Machine& machine,
                                         std::size_t ranks) {
  std::vector<std::string> warnings;
  const machine::MachineMemory& memory = machine.memory;
  const Bytes whole = std::min(memory.total_bytes, memory.limit_bytes.value_or(memory.total_bytes));
  if (ranks > 1 && config.has("memory") && config.bytes("memory") > whole / ranks)
    warnings.push_back(fmt::format(
        "{} ranks on this machine with {} of memory each may take {}, which is more than the {} that {}: "
        "what does not "
        "fit is swapped, or ends the run. Each may have {} at most; without --memory each would have {}",
        ranks, config::readable_size(config.bytes("memory")),
        config::readable_size(config.bytes("memory") * ranks), config::readable_size(whole),
        memory.limit_bytes ? "its control group, or ulimit, allows" : "it has",
        config::readable_size(whole / ranks), config::readable_size(memory.usable_bytes() / ranks)));
  else if (config.has("memory") && config.bytes("memory") > whole)
    warnings.push_back(
        fmt::format("a memory limit of {} is more than the {} that {}: what does not fit is swapped, or ends "
                    "the run. Without --memory it would be {}",
                    config.written("memory"), config::readable_size(whole),
                    memory.limit_bytes ? "its control group allows this process" : "this machine has",
                    config::readable_size(memory.usable_bytes())));
  const std::size_t threads = std::max<std::size_t>(machine.processors.hardware_threads, 1);
  if (const std::uint64_t workers = config.count_or("workers", machine.workers); workers > many * threads)
    warnings.push_back(fmt::format(
        "{} workers on {} core{} take turns and share the memory: without --workers there would be {}",
        workers, machine.processors.cores.size(), machine.processors.cores.size() == 1 ? "" : "s",
        machine.workers));
  for (const SettingReport& row : config.report())
    if (!row.former_name.empty())
      warnings.push_back(
          fmt::format("{}: the setting {} is now called {}; the old name will be removed after 0.2",
                      row.where, row.former_name, row.setting.key));
  if (std::string note = schedule::renaming_note(config.text_or("scheduler", "")); !note.empty())
    warnings.push_back(std::move(note));
  return warnings;
}

}  // namespace fairlead::front
