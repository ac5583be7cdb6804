// Who moves the data of tasks on devices in a simulation: the runtime by copies, as in real runs, or CUDA's
// driver page by page, or nobody.
#pragma once
#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

namespace fairlead::backend {

enum class MemoryModel : std::uint8_t {
  explicit_copies,     // the runtime copies what a task reads before the task starts
  managed,             // kernels fault: a page is in one place, and moves to whoever touches it
  managed_advised,     // likewise, but what is only read is duplicated (cudaMemAdvise, read mostly)
  managed_prefetched,  // and is asked for (cudaMemPrefetchAsync) when its task is given to the device
  host_mapped,         // data stay in the host's memory, every use crosses the wire (cudaHostAlloc)
};

struct MemoryModelName {
  std::string_view name;
  MemoryModel model;
};
inline constexpr std::array memory_models = {
    MemoryModelName{"explicit", MemoryModel::explicit_copies},
    MemoryModelName{"managed", MemoryModel::managed},
    MemoryModelName{"managed-advised", MemoryModel::managed_advised},
    MemoryModelName{"managed-prefetched", MemoryModel::managed_prefetched},
    MemoryModelName{"host-mapped", MemoryModel::host_mapped},
};

constexpr std::optional<MemoryModel> find_memory_model(std::string_view name) noexcept {
  for (const MemoryModelName& one : memory_models)
    if (one.name == name) return one.model;
  return {};
}
constexpr std::string_view name_of(MemoryModel model) noexcept {
  return memory_models[static_cast<std::size_t>(model)].name;
}
/// Pages move, by the driver's doing.
constexpr bool is_managed(MemoryModel model) noexcept {
  return model != MemoryModel::explicit_copies && model != MemoryModel::host_mapped;
}

}  // namespace fairlead::backend
