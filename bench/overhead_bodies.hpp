// The bodies of the overhead graphs: empty, 20 microseconds of computing, or a computation whose result
// depends on the order, which detects a runtime that loses a dependency.
#pragma once
#include <algorithm>
#include <chrono>
#include <cstdint>
#include <vector>

#include "overhead_graphs.hpp"

namespace overhead {

using Value = std::uint64_t;  // a datum

/// The empty body: all measured time is the runtime's.
struct EmptyBody {
  template <class... Reads>
  void operator()(Value*, const Reads*...) const {}
};

/// Computes for a given time without reading a clock.
struct SpinningBody {
  std::uint64_t rounds = 0;
  double duration_ns = 0;  ///< of one task, undisturbed

  template <class... Reads>
  void operator()(Value* own, const Reads*...) const {
    std::uint64_t x = *own;
    for (std::uint64_t i = 0; i < rounds; ++i) {
      x = x * 6364136223846793005u + 1442695040888963407u;
      asm volatile("" : "+r"(x));
    }
    *own = x;
  }

  /// Calibrates the rounds that take `nanoseconds`, by the fastest of many trials.
  static SpinningBody lasting(double nanoseconds) {
    SpinningBody body{10'000};
    body.rounds = static_cast<std::uint64_t>(10'000 * nanoseconds / body.fastest_ns());
    body.duration_ns = body.fastest_ns();
    return body;
  }

 private:
  double fastest_ns() const {
    using Clock = std::chrono::steady_clock;
    double fastest = 1e18;
    for (int trial = 0; trial < 50; ++trial) {
      Value value = 1;
      const auto begin = Clock::now();
      for (int i = 0; i < 100; ++i) (*this)(&value);
      fastest =
          std::min(fastest, std::chrono::duration<double, std::nano>(Clock::now() - begin).count() / 100);
    }
    return fastest;
  }
};

/// Mixes its inputs into its own datum; different orders give different results.
struct CheckingBody {
  template <class... Reads>
  void operator()(Value* own, const Reads*... reads) const {
    Value mixed = *own * 0x9e3779b97f4a7c15u + 1;
    ((mixed = (mixed ^ (mixed >> 29)) * 0xbf58476d1ce4e5b9u + *reads), ...);
    *own = mixed;
  }
};

inline std::vector<Value> initial_values(const Graph& graph) {
  std::vector<Value> values(graph.data());
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = i + 1;
  return values;
}

/// The data after a sequential run.
inline std::vector<Value> sequential_result(const Graph& graph) {
  auto values = initial_values(graph);
  const CheckingBody body;
  struct {
    std::vector<Value>& values;
    const CheckingBody& body;
    void operator()(Kind, Use own) const { body(&values[own.datum]); }
    void operator()(Kind, Use a, Use own) const { body(&values[own.datum], &values[a.datum]); }
    void operator()(Kind, Use a, Use b, Use own) const {
      body(&values[own.datum], &values[a.datum], &values[b.datum]);
    }
  } const run{values, body};
  graph.submit_to(run);
  return values;
}

}  // namespace overhead
