// CUDA devices: NVIDIA's accelerators, by the driver's own library, which is looked for when one is asked for.
#pragma once
#include <functional>
#include <utility>

#include "backend/backend.hpp"
#include "backend/cuda/driver.hpp"

namespace fairlead::backend {

/// "cuda".
class CudaBackend final : public Backend {
 public:
  using Find = std::function<cu::Found()>;
  /// `find`: looks for devices, when the first one is asked for.
  explicit CudaBackend(Find find = cu::find_devices) : find_(std::move(find)) {}

  std::string_view kind() const noexcept override { return "cuda"; }
  std::span<const Setting> device_options() const noexcept override;
  bool of_machine() const noexcept override { return true; }
  std::unique_ptr<Part> make() const override;

 private:
  const Find find_;
};

}  // namespace fairlead::backend
