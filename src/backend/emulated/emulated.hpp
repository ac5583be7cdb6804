// Emulated accelerators: memory nodes in RAM, links with a configured bandwidth, workers that are threads. A program
// for several devices runs with them on any machine, with real data.
#pragma once
#include "backend/backend.hpp"

namespace fairlead::backend {

/// The backend named "emulated".
class EmulatedBackend final : public Backend {
 public:
  std::string_view kind() const noexcept override { return "emulated"; }
  std::span<const Setting> device_options() const noexcept override;
  std::unique_ptr<BackendInstance> make() const override;
};

}  // namespace fairlead::backend
