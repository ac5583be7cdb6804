// Bodies for the fake CUDA devices, and random programs of them.
#pragma once
#include <fairlead/cuda.hpp>
#include <fairlead/fairlead.hpp>

#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "backend/backend.hpp"
#include "base/random.hpp"
#include "fake_cuda/fake_cuda.hpp"

namespace fairlead::tests {

/// x(i) := factor x(i) + i.
inline void advance(long* x, long size, long factor) {
  for (long i = 0; i < size; ++i) x[i] = factor * x[i] + i;
}
inline int step_kernel(CUstream_st* stream, long* x, long size, long factor) {
  return fake_cuda::launch(stream, "advance", {{x, static_cast<std::size_t>(size) * sizeof(long), true}},
                           [=](auto at) { advance(reinterpret_cast<long*>(at[0]), size, factor); });
}
/// For CUDA devices alone.
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

/// z(i) := f z(i) + 3 x(i) - y(i).
inline void combine(const long* x, const long* y, long* z, long size, long f) {
  for (long i = 0; i < size; ++i) z[i] = (f * z[i] + 3 * x[i] - y[i]) % 1000003;
}
/// By way of the stream's workspace.
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

struct ProgramRun {
  std::string said;  ///< by an error; empty: there was none
  bool right = false;
};

/// A program of that seed, in the machine; `right`: its values are those of a sequential run. Every other vector is the
/// program's own memory, the others are the runtime's.
template <class Mix>
ProgramRun run_program(std::uint64_t seed, const Config& config, backend::Backends backends, const Mix& mix,
                       int tasks = 60) {
  constexpr long size = 700, vectors = 8;  // 2 pages each
  Random random(seed);
  std::vector<std::vector<long>> numbers(vectors, std::vector<long>(size)), expected;
  for (auto& one : numbers)
    for (long& number : one) number = static_cast<long>(random.below(1000));
  expected = numbers;
  const auto step = step_codelet();
  const auto fill = codelet("fill").cpu(
      [](Out<Vector<long>> v, const long* from) { std::copy(from, from + v.size(), v.data()); });
  const auto fetch = codelet("fetch").cpu(
      [](In<Vector<long>> v, long* to) { std::copy(v.data(), v.data() + v.size(), to); });
  try {
    Runtime runtime(config, 0, std::move(backends));
    std::vector<Handle<Vector<long>>> data;
    Flow flow(runtime);
    for (std::size_t i = 0; i < numbers.size(); ++i) {
      if (i % 2 == 0) {
        data.push_back(runtime.vector<long>("v", numbers[i].data(), size));
      } else {
        data.push_back(runtime.vector<long>("w", size));
        flow.submit(fill(data.back(), numbers[i].data()));
      }
    }
    for (int task = 0; task < tasks; ++task) {
      const std::size_t x = random.below(vectors), y = random.below(vectors), z = random.below(vectors);
      const long f = static_cast<long>(random.below(5)) - 2;
      if (x == z || y == z || x == y) {
        flow.submit(step(data[z], f));
        advance(expected[z].data(), size, f);
      } else {
        flow.submit(mix(data[x], data[y], data[z], f));
        combine(expected[x].data(), expected[y].data(), expected[z].data(), size, f);
      }
      if (random.below(20) == 0) flow.wait();
    }
    for (std::size_t i = 1; i < numbers.size(); i += 2) flow.submit(fetch(data[i], numbers[i].data()));
    flow.wait();
  } catch (const Error& error) {
    return {error.what(), false};
  }
  return {"", numbers == expected};
}
inline ProgramRun run_program(std::uint64_t seed, const Config& config,
                              backend::Backends backends = backend::default_backends()) {
  return run_program(seed, config, std::move(backends), mix_codelet());
}

}  // namespace fairlead::tests
