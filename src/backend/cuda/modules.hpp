// The kernels that a device has loaded. A module is loaded as a whole, by the first task that launches a kernel of it: the driver
// would else load each kernel when it is first launched, and copies wait meanwhile.
#pragma once
#include <fairlead/cuda.hpp>

#include <functional>
#include <mutex>
#include <vector>

#include "backend/cuda/driver.hpp"

namespace fairlead::backend::cu {

/// Any thread, with the device current.
class Modules {
 public:
  /// `check`: throws if the status is an error.
  Function function(const CudaKernel& kernel, const Driver& driver,
                    const std::function<void(Status, const char* what)>& check);
  /// Those that are to be unloaded, the last one first.
  std::vector<Module> take() noexcept;

 private:
  struct Loaded {
    CudaModule from;  // kept, so that no other one has its address
    Module module;
    std::vector<Function> functions;
  };
  std::mutex mutex_;  // guards the next
  std::vector<Loaded> loaded_;
};

}  // namespace fairlead::backend::cu
