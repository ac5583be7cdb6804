// OpenCL devices: accelerators of any maker, by OpenCL 1.2, whose library is looked for when one is asked for.
#pragma once
#include <functional>
#include <utility>

#include "backend/backend.hpp"
#include "backend/opencl/driver.hpp"

namespace fairlead::backend {

/// "opencl".
class OpenclBackend final : public Backend {
 public:
  using Find = std::function<cl::Found()>;
  /// `find`: looks for devices, when the first one is asked for.
  explicit OpenclBackend(Find find = cl::find_devices) : find_(std::move(find)) {}

  std::string_view kind() const noexcept override { return "opencl"; }
  std::span<const Setting> device_options() const noexcept override;
  bool of_machine() const noexcept override { return true; }
  std::unique_ptr<Part> make() const override;

 private:
  const Find find_;
};

}  // namespace fairlead::backend
