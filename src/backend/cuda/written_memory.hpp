// The memory of a CUDA device as the network sees it: bytes of RAM are brought there in a stream of their own, by way of a buffer that
// the driver knows; and a library that follows the device's addresses by itself, as an MPI may, is called with its context current.
#pragma once
#include <cstddef>
#include <functional>
#include <mutex>

#include "backend/cuda/device.hpp"
#include "base/device_memory.hpp"

namespace fairlead::backend::cu {

class WrittenMemory final : public DeviceMemory {
 public:
  /// It outlives this.
  explicit WrittenMemory(const OpenDevice& device) : device_(device) {}
  ~WrittenMemory() override;

  bool is_ram() const noexcept override { return false; }
  bool write(void* to, const void* from, Bytes bytes) override;
  bool call(const std::function<void()>& it) override;

 private:
  void prepare();

  const OpenDevice& device_;
  std::mutex mutex_;  // guards what follows, which is made when it is first needed
  Stream stream_ = nullptr;
  Event event_ = nullptr;
  std::byte* buffer_ = nullptr;
};

}  // namespace fairlead::backend::cu
