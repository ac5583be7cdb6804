// Data whose only replica is in device memory: written by kernels, until the host has observed that a copy to RAM is finished.
// These data are lost with the device, by the submitted operations and not by the state of a runtime.
#pragma once
#include <cstddef>
#include <cstdint>
#include <map>
#include <vector>

#include "fake_cuda/checker.hpp"

namespace fake_cuda {

class Unsaved {
 public:
  /// A kernel that writes there is submitted to a stream.
  void written(const void* at, std::size_t bytes);
  /// Operation `number` of the stream copies these bytes, to RAM or from there.
  void copied(const void* at, std::size_t bytes, std::uint32_t stream, std::uint64_t number);
  /// `known`: operations that the host has observed as finished.
  std::size_t bytes(const Clock& known) const;

 private:
  struct Step {
    std::uintptr_t begin, end;
    bool copy;
    std::uint32_t stream;
    std::uint64_t number;
  };
  std::vector<Step> steps_;  // in the order of submission
};

}  // namespace fake_cuda
