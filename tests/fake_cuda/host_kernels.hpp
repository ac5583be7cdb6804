// Fairlead's own kernels on cores: the sources that nvcc compiles for devices, called by name and with pointers to arguments as
// cuLaunchKernel does. What each reads and writes is said here, for the checker.
#pragma once
#include <cstddef>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "fake_cuda/fake_cuda.hpp"

namespace fake_cuda {

/// How many blocks and threads of each are run, which are not those that were asked for: a kernel is right for any.
struct Threads {
  unsigned blocks = 1, of_block = 1;
};

struct HostKernel {
  std::string_view name;
  std::vector<Access> (*accesses)(void** arguments);
  /// The kernel with its arguments; `place` says where for cores an address of the device is. To be called once. Gives what was
  /// wrong about how its threads waited for each other; empty: nothing.
  std::function<std::string(Threads)> (*bind)(void** arguments,
                                              const std::function<void*(const void*)>& place);
};

/// Null if there is none of that name.
const HostKernel* host_kernel(std::string_view name);

}  // namespace fake_cuda
