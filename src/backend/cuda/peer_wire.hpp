// Moves bytes from one CUDA device to another without RAM in between, in a stream of the device that has them: if that is
// lost on the way, its stream says so and the copy has failed. If the one that gets them is lost, nobody reads them there.
#pragma once
#include <array>
#include <optional>

#include "backend/cuda/device.hpp"
#include "backend/device/two_way_wire.hpp"

namespace fairlead::backend::cu {

class PeerWire final : public TwoWayWire {
 public:
  /// Away from home is from the first. They have been joined, or are on one device of the driver, and outlive it. Throws
  /// SystemError.
  PeerWire(const OpenDevice& first, const OpenDevice& second);
  ~PeerWire() override;

 private:
  static constexpr unsigned together = 2;
  struct Way {
    const OpenDevice *from = nullptr, *to = nullptr;
    Stream stream = nullptr;
    std::array<Event, together> events{};
    std::optional<OpenDevice::Current> current{};  // for the thread
  };
  Outcome begin(unsigned direction, unsigned slot, const Load& load) override;
  Outcome end(unsigned direction, unsigned slot, const Load& load) override;
  void leave(unsigned direction) noexcept override { ways_[direction].current.reset(); }
  void release() noexcept;

  std::array<Way, directions> ways_;
};

}  // namespace fairlead::backend::cu
