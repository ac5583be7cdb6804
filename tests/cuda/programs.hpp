// Bodies for the fake CUDA devices.
#pragma once
#include <fairlead/cuda.hpp>
#include <fairlead/fairlead.hpp>

#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "backend/backend.hpp"
#include "cuda/random_program.hpp"
#include "fake_cuda/fake_cuda.hpp"

namespace fairlead::tests {

inline int step_kernel(CUstream_st* stream, long* x, long size, long factor) {
  return fake_cuda::launch(stream, "advance", {{x, static_cast<std::size_t>(size) * sizeof(long), true}},
                           [=](auto at) { advance(reinterpret_cast<long*>(at[0]), size, factor); });
}
/// For CUDA devices only.
inline auto step_there() {
  return codelet("step there").cuda([](CudaStream stream, InOut<Vector<long>> x, long factor) {
    stream.check(step_kernel(stream, x.data(), x.size(), factor), "the kernel");
  });
}
inline auto step_codelet() {
  return codelet("step")
      .cpu([](InOut<Vector<long>> x, long factor) { advance(x.data(), x.size(), factor); })
      .cuda([](CudaStream stream, InOut<Vector<long>> x, long factor) {
        stream.check(step_kernel(stream, x.data(), x.size(), factor), "the kernel");
      })
      .emulated();
}

/// Through the stream's workspace.
inline auto mix_codelet() {
  return codelet("mix")
      .cpu([](In<Vector<long>> x, In<Vector<long>> y, InOut<Vector<long>> z, long f) {
        combine(x.data(), y.data(), z.data(), z.size(), f);
      })
      .cuda([](CudaStream stream, In<Vector<long>> x, In<Vector<long>> y, InOut<Vector<long>> z, long f) {
        const long size = z.size(),
                   part = std::min(size, static_cast<long>(stream.workspace_bytes() / sizeof(long)));
        const auto bytes = static_cast<std::size_t>(size) * sizeof(long);
        stream.check(fake_cuda::launch(
                         stream, "keep",
                         {{x.data(), bytes, false}, {stream.workspace(), stream.workspace_bytes(), true}},
                         [part](auto at) {
                           const long* const from = reinterpret_cast<const long*>(at[0]);
                           std::copy(from, from + part, reinterpret_cast<long*>(at[1]));
                         }),
                     "the kernel");
        stream.check(fake_cuda::launch(stream, "combine",
                                       {{stream.workspace(), stream.workspace_bytes(), false},
                                        {x.data(), bytes, false},
                                        {y.data(), bytes, false},
                                        {z.data(), bytes, true}},
                                       [part, size, f](auto at) {
                                         const auto from = [&](std::size_t i) {
                                           return reinterpret_cast<const long*>(at[i]);
                                         };
                                         long* const to = reinterpret_cast<long*>(at[3]);
                                         combine(from(0), from(2), to, part, f);
                                         combine(from(1) + part, from(2) + part, to + part, size - part, f);
                                       }),
                     "the kernel");
      })
      .emulated();
}

inline ProgramRun run_program(std::uint64_t seed, const Config& config,
                              backend::Backends backends = backend::default_backends()) {
  return run_program(seed, config, std::move(backends), step_codelet(), mix_codelet());
}

}  // namespace fairlead::tests
