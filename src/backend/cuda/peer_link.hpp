// Copies directly from one CUDA device to another, in a stream of the source device: if the source is lost during the
// copy, its stream reports the failure. If the target is lost, the data are not read there.
#pragma once
#include <array>
#include <optional>

#include "backend/cuda/device.hpp"
#include "backend/device/driver_link.hpp"

namespace fairlead::backend::cu {

class PeerLink final : public DriverLink {
 public:
  /// "Away from home" is from `first` to `second`. The devices are joined peers, or the same device of the driver,
  /// and outlive it. Throws SystemError.
  PeerLink(const CudaDevice& first, const CudaDevice& second);
  ~PeerLink() override;

 private:
  static constexpr unsigned together = 2;
  struct Way {
    const CudaDevice *from = nullptr, *to = nullptr;
    Stream stream = nullptr;
    std::array<Event, together> events{};
    std::optional<CudaDevice::Current> current{};  // for the direction's thread
  };
  TransferResult start_copy(unsigned direction, unsigned slot, const Transfer& load) override;
  TransferResult wait_for_copy(unsigned direction, unsigned slot, const Transfer& load) override;
  void thread_ending(unsigned direction) noexcept override { ways_[direction].current.reset(); }
  void release() noexcept;

  std::array<Way, directions> ways_;
};

}  // namespace fairlead::backend::cu
