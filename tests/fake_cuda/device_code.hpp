// The extensions of CUDA C++ that Fairlead's kernels use, for cores: with this header a .cu file is C++. The threads of a block
// are threads, and shared memory is static, since one block runs at a time: ThreadSanitizer detects races of two threads of a
// block without a __syncthreads() between them.
#pragma once
#include <math.h>

namespace fake_cuda {

struct Index {
  unsigned x = 0, y = 0, z = 0;
};
/// Returns when all threads of the calling thread's block have called it.
void synchronize_block();

}  // namespace fake_cuda

// The names of CUDA.
inline thread_local fake_cuda::Index threadIdx, blockIdx, blockDim, gridDim;
inline void __syncthreads() { fake_cuda::synchronize_block(); }
#define __global__
#define __device__
#define __shared__ static
#define __launch_bounds__(threads)
