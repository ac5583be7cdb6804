// The CUDA backend: NVIDIA's accelerators through the driver's library, which is loaded only if a device is
// requested.
#pragma once
#include <functional>
#include <utility>

#include "backend/backend.hpp"
#include "backend/cuda/driver.hpp"

namespace fairlead::backend {

/// The backend named "cuda".
class CudaBackend final : public Backend {
 public:
  using Find = std::function<cu::CudaDevices()>;
  /// `find`: enumerates the devices when the first one is requested.
  explicit CudaBackend(Find find = cu::find_devices) : find_(std::move(find)) {}

  std::string_view kind() const noexcept override { return "cuda"; }
  std::span<const Setting> device_options() const noexcept override;
  bool is_shared_by_ranks() const noexcept override { return true; }
  std::unique_ptr<BackendInstance> make() const override;

 private:
  const Find find_;
};

}  // namespace fairlead::backend
