// Fairlead's own kernels on cores: the sources that nvcc compiles for devices, called by name and with pointers to arguments as
// cuLaunchKernel does. Declares the accesses of each for the checker.
#pragma once
#include <cstddef>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "fake_cuda/fake_cuda.hpp"

namespace fake_cuda {

/// Number of blocks and threads of each run, not those requested: a kernel must be correct for any.
struct Threads {
  unsigned blocks = 1, of_block = 1;
};

struct HostKernel {
  std::string_view name;
  std::vector<Access> (*accesses)(void** arguments);
  /// The kernel with its arguments; `place` maps a device address to one for cores. Call it once. Returns the synchronization
  /// error of its threads; empty: none.
  std::function<std::string(Threads)> (*bind)(void** arguments,
                                              const std::function<void*(const void*)>& place);
};

/// Null if there is none of that name.
const HostKernel* host_kernel(std::string_view name);

}  // namespace fake_cuda
