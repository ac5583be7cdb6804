// What is in the memory of a device and nowhere else: what kernels wrote there, until the host knows that a copy which brings
// it to RAM is over. So much is lost with the device, by what was asked for and not by what a runtime thinks.
#pragma once
#include <cstddef>
#include <cstdint>
#include <map>
#include <vector>

#include "fake_cuda/checker.hpp"

namespace fake_cuda {

class Unsaved {
 public:
  /// A kernel that writes there is put into a stream.
  void written(const void* at, std::size_t bytes);
  /// Operation `number` of the stream copies these bytes, to RAM or from there.
  void copied(const void* at, std::size_t bytes, std::uint32_t stream, std::uint64_t number);
  /// `known`: what the host knows to be over.
  std::size_t bytes(const Clock& known) const;

 private:
  struct Step {
    std::uintptr_t begin, end;
    bool copy;
    std::uint32_t stream;
    std::uint64_t number;
  };
  std::vector<Step> steps_;  // in the order in which they were put
};

}  // namespace fake_cuda
