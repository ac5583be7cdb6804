// The memory of a CUDA device as the destination of network transfers. Copies from RAM use a separate stream
// and a pinned buffer. A library that accesses device addresses itself, such as a CUDA-aware MPI, is called
// with the device's context current.
#pragma once
#include <cstddef>
#include <functional>
#include <mutex>

#include "backend/cuda/device.hpp"
#include "base/device_memory.hpp"

namespace fairlead::backend::cu {

class NetworkTarget final : public DeviceMemory {
 public:
  /// The device must outlive it.
  explicit NetworkTarget(const CudaDevice& device) : device_(device) {}
  ~NetworkTarget() override;

  bool is_ram() const noexcept override { return false; }
  bool write(void* to, const void* from, Bytes bytes) override;
  bool call(const std::function<void()>& function) override;

 private:
  void prepare();

  const CudaDevice& device_;
  std::mutex mutex_;  // guards the fields below, which are created at first use
  Stream stream_ = nullptr;
  Event event_ = nullptr;
  std::byte* buffer_ = nullptr;
};

}  // namespace fairlead::backend::cu
