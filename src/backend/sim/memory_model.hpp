// How task data reach simulated devices: the runtime copies them, as in real runs; CUDA's driver migrates pages; or
// they stay in host memory.
#pragma once
#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

namespace fairlead::backend {

enum class MemoryModel : std::uint8_t {
  explicit_copies,     // the runtime copies a task's inputs before the task starts
  managed,             // CUDA managed memory: kernels fault; a page is in one place and migrates at each
                       // access
  managed_advised,     // as managed, but pages that are only read are duplicated (cudaMemAdvise, read mostly)
  managed_prefetched,  // as managed_advised, with a prefetch (cudaMemPrefetchAsync) when the device receives
                       // the task
  host_mapped,         // data stay in host memory, every access crosses the link (cudaHostAlloc)
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
/// True if the driver migrates pages.
constexpr bool is_managed(MemoryModel model) noexcept {
  return model != MemoryModel::explicit_copies && model != MemoryModel::host_mapped;
}

}  // namespace fairlead::backend
