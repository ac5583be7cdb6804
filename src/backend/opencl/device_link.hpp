// Transfers between RAM and the memory of an OpenCL device: one copy at a time in each direction, with a thread and a
// queue per direction. Copies even if the device is the processor with its memory in RAM: replicas belong to memory
// nodes, which the engine alone manages.
#pragma once
#include <array>
#include <cstddef>
#include <vector>

#include "backend/device/driver_link.hpp"
#include "backend/opencl/device.hpp"

namespace fairlead::backend::cl {

class OpenclDeviceLink final : public DriverLink {
 public:
  /// The device must outlive it. Throws SystemError.
  explicit OpenclDeviceLink(const OpenclDevice& device);
  ~OpenclDeviceLink() override;

 private:
  struct Way {
    Queue queue = nullptr;
    std::vector<std::byte> packed;  // scratch for data with other layouts than OpenCL's
  };
  TransferResult start_copy(unsigned direction, unsigned slot, const Transfer& load) override;
  TransferResult wait_for_copy(unsigned, unsigned, const Transfer&) override {
    return {};
  }  // begin() has waited
  Status write(Way& way, const Transfer& load) const;
  Status read(Way& way, const Transfer& load) const;

  const OpenclDevice& device_;
  std::array<Way, directions> ways_;
};

}  // namespace fairlead::backend::cl
