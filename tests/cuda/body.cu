// Bodies as users write them for nvcc: CMakeLists.txt compiles the file if nvcc is installed, for three architectures, without
// warnings. No test runs it.
#include <fairlead/cuda.hpp>
#include <fairlead/fairlead.hpp>

using namespace fairlead;

__global__ void scale_kernel(float* x, int size, float factor) {
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (i < size) x[i] *= factor;
}

auto scale() {
  return codelet("scale")
      .cpu([](InOut<Tile<float>> x, float factor) {
        for (int j = 0; j < x.columns(); ++j)
          for (int i = 0; i < x.rows(); ++i) x(i, j) *= factor;
      })
      .cuda([](cudaStream_t stream, InOut<Tile<float>> x, float factor) {
        const int size = x.rows() * x.columns();
        scale_kernel<<<(size + 255) / 256, 256, 0, stream>>>(x.data(), size, factor);
      })
      .cuda("checked", [](CudaStream stream, InOut<Tile<float>> x, float factor) {
        const int size = x.rows() * x.columns();
        scale_kernel<<<(size + 255) / 256, 256, 0, stream>>>(x.data(), size, factor);
        stream.check(cudaGetLastError(), "scale_kernel");
        int* const answer = stream.answer<int>();
        stream.then([answer] {
          if (*answer < 0) throw NumericalError("it is negative");
        });
      });
}
