// The kernels loaded on a device. A module is loaded as a whole, when its first kernel is launched: otherwise the
// driver would load each kernel at its first launch and delay copies.
#pragma once
#include <fairlead/cuda.hpp>

#include <functional>
#include <mutex>
#include <optional>
#include <vector>

#include "backend/cuda/driver.hpp"

namespace fairlead::backend::cu {

/// Any thread, with the device current.
class Modules {
 public:
  /// `check`: throws if the status is an error.
  Function function(const CudaKernel& kernel, const CudaDriver& driver,
                    const std::function<void(Status, const char* what)>& check);
  /// Removes a module, for unloading, the last one first; nothing: there is none. Allocates nothing, for destructors.
  std::optional<Module> take_last() noexcept;

 private:
  struct Loaded {
    CudaModule from;  // keeps the content alive, so that its address stays unique
    Module module;
    std::vector<Function> functions;
  };
  std::mutex mutex_;  // guards the next field
  std::vector<Loaded> loaded_;
};

}  // namespace fairlead::backend::cu
