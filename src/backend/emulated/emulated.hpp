// Emulated accelerators: memory of their own in RAM, wires that take as long as they are told, and workers
// that are threads. With them a program for several devices runs on any machine, with real data.
#pragma once
#include "backend/backend.hpp"

namespace fairlead::backend {

/// "emulated".
class EmulatedBackend final : public Backend {
 public:
  std::string_view kind() const noexcept override { return "emulated"; }
  std::span<const Setting> device_options() const noexcept override;
  std::unique_ptr<Part> make() const override;
};

}  // namespace fairlead::backend
