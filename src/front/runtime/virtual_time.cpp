// See virtual_time.hpp.
#include "front/runtime/virtual_time.hpp"

namespace fairlead::front {

namespace {

class NothingToAttach final : public backend::BackendInstance {
 public:
  void attach(backend::BackendHost&) override {}
};

}  // namespace

TaskClock* VirtualTimeBackend::clock_in(const backend::Backends& backends) noexcept {
  for (const auto& backend : backends)
    if (const auto* const simulated = dynamic_cast<const VirtualTimeBackend*>(backend.get()))
      return simulated->clock_.get();
  return nullptr;
}

std::unique_ptr<backend::BackendInstance> VirtualTimeBackend::make() const {
  return std::make_unique<NothingToAttach>();
}

}  // namespace fairlead::front
