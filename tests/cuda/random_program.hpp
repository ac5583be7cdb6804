// Random programs of two codelets on vectors of whole numbers, whose values are compared with those of a sequential run.
#pragma once
#include <fairlead/fairlead.hpp>

#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "backend/backend.hpp"
#include "base/random.hpp"

namespace fairlead::tests {

/// x(i) := factor x(i) + i.
inline void advance(long* x, long size, long factor) {
  for (long i = 0; i < size; ++i) x[i] = factor * x[i] + i;
}
/// z(i) := f z(i) + 3 x(i) - y(i).
inline void combine(const long* x, const long* y, long* z, long size, long f) {
  for (long i = 0; i < size; ++i) z[i] = (f * z[i] + 3 * x[i] - y[i]) % 1000003;
}

struct ProgramRun {
  std::string said;  ///< the error; empty: none
  bool right = false;
};

/// A program of that seed, in the machine; `right`: its values are those of a sequential run. Every other vector is the
/// program's own memory, the others are the runtime's.
template <class Step, class Mix>
ProgramRun run_program(std::uint64_t seed, const Config& config, backend::Backends backends, const Step& step,
                       const Mix& mix, int tasks = 60) {
  constexpr long size = 700, vectors = 8;  // 2 pages each
  Random random(seed);
  std::vector<std::vector<long>> numbers(vectors, std::vector<long>(size)), expected;
  for (auto& one : numbers)
    for (long& number : one) number = static_cast<long>(random.below(1000));
  expected = numbers;
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

}  // namespace fairlead::tests
