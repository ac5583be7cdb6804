// The OpenCL backend: accelerators of any vendor through OpenCL 1.2, whose library is loaded only if a device is
// requested.
#pragma once
#include <functional>
#include <utility>

#include "backend/backend.hpp"
#include "backend/opencl/driver.hpp"

namespace fairlead::backend {

/// The backend named "opencl".
class OpenclBackend final : public Backend {
 public:
  using Find = std::function<cl::OpenclDevices()>;
  /// `find`: enumerates the devices when the first one is requested.
  explicit OpenclBackend(Find find = cl::find_devices) : find_(std::move(find)) {}

  std::string_view kind() const noexcept override { return "opencl"; }
  std::span<const Setting> device_options() const noexcept override;
  bool is_shared_by_ranks() const noexcept override { return true; }
  std::unique_ptr<BackendInstance> make() const override;

 private:
  const Find find_;
};

}  // namespace fairlead::backend
