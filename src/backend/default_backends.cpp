// The default list of backends.
#include "backend/backend.hpp"
#include "backend/cuda/cuda.hpp"
#include "backend/disk/disk.hpp"
#include "backend/emulated/emulated.hpp"
#include "backend/generation/generator_engine.hpp"
#include "backend/opencl/opencl.hpp"

namespace fairlead::backend {

Backends default_backends() {
  return {std::make_shared<DiskBackend>(), std::make_shared<EmulatedBackend>(),
          std::make_shared<CudaBackend>(), std::make_shared<OpenclBackend>(),
          std::make_shared<GeneratedBackend>()};
}

}  // namespace fairlead::backend
