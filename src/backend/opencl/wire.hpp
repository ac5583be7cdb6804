// Moves bytes between RAM and the memory of an OpenCL device, one copy after the other in each direction, by a thread
// and a queue of its own for each. Copies are always made, also where a device is the processor and has its memory in
// RAM: where the bytes are is decided by the engine alone.
#pragma once
#include <array>
#include <cstddef>
#include <vector>

#include "backend/device/two_way_wire.hpp"
#include "backend/opencl/device.hpp"

namespace fairlead::backend::cl {

class DeviceWire final : public TwoWayWire {
 public:
  /// The device outlives it. Throws SystemError.
  explicit DeviceWire(const OpenDevice& device);
  ~DeviceWire() override;

 private:
  struct Way {
    Queue queue = nullptr;
    std::vector<std::byte> packed;  // of data that the program's own functions pack
  };
  Outcome begin(unsigned direction, unsigned slot, const Load& load) override;
  Outcome end(unsigned, unsigned, const Load&) override { return {}; }  // begin() has waited
  Status write(Way& way, const Load& load) const;
  Status read(Way& way, const Load& load) const;

  const OpenDevice& device_;
  std::array<Way, directions> ways_;
};

}  // namespace fairlead::backend::cl
