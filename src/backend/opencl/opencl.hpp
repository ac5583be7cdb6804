// OpenCL devices: accelerators of any maker, by OpenCL 1.2, whose library is looked for when one is asked for.
#pragma once
#include "backend/backend.hpp"

namespace fairlead::backend {

/// "opencl".
class OpenclBackend final : public Backend {
 public:
  std::string_view kind() const noexcept override { return "opencl"; }
  std::span<const Setting> device_options() const noexcept override;
  std::unique_ptr<Part> make() const override;
};

}  // namespace fairlead::backend
