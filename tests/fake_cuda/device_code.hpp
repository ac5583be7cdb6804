// What CUDA C++ has beside C++, as far as Fairlead's kernels use it, for cores: with this before it a .cu file is C++. The threads of a
// block are threads, and shared memory is static, since one block runs at a time: so ThreadSanitizer sees what two threads of
// a block do to it without a __syncthreads() between them.
#pragma once
#include <math.h>

namespace fake_cuda {

struct Index {
  unsigned x = 0, y = 0, z = 0;
};
/// Of the block that the thread is one of: returns when all of them have called it.
void synchronize_block();

}  // namespace fake_cuda

// As CUDA names them, and as its programs take them.
inline thread_local fake_cuda::Index threadIdx, blockIdx, blockDim, gridDim;
inline void __syncthreads() { fake_cuda::synchronize_block(); }
#define __global__
#define __device__
#define __shared__ static
#define __launch_bounds__(threads)
