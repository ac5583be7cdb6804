// What `fairlead bench` runs: matrices that are generated, an operation on them against the clock, and a
// check of the result.
#pragma once
#include <fairlead/linalg.hpp>

#include <cstdint>
#include <memory>
#include <optional>

#include "fairlead/dense_problem.hpp"
#include "fairlead/place.hpp"
#include "fairlead/watched_run.hpp"

namespace fairlead::app {

template <class T>
class Benchmark {
 public:
  virtual ~Benchmark() = default;
  /// Of memory besides tiles, with so many workers.
  virtual Bytes reserved_bytes(std::size_t workers) const = 0;
  /// Makes the matrices, whose tiles are then of problem.tile. They must not outlive the run. Over ranks each has one of
  /// these, and all call everything.
  virtual void begin(WatchedRun& run, const Place& place, const DenseProblem& problem) = 0;
  virtual std::uint64_t generation_tasks() const = 0;
  virtual void generate(Flow& flow) = 0;
  /// To the flow or as a graph: see WatchedRun::compute().
  virtual void compute() = 0;
  /// A digest of the result's bits, in a phase of its own.
  virtual std::uint64_t digest() = 0;
  /// How wrong the result is, in phases of its own: the backward error of the solution of a system, or of a
  /// product. Once, at the end.
  virtual double check() = 0;
  /// How much larger elements have become, where pivoting leaves that open; known after check().
  virtual std::optional<double> growth() const { return std::nullopt; }
  /// Of cuBLAS, by the operation, where that is wanted.
  virtual std::uint64_t calls_in_tf32() const { return 0; }
  /// That the solution took, whose error check() has told.
  virtual std::optional<int> refinement_steps() const { return std::nullopt; }
  /// Gives the matrices back.
  virtual void end() = 0;
};

template <class T>
std::unique_ptr<Benchmark<T>> make_benchmark(const DenseProblem& problem, linalg::Kernels kernels,
                                             std::uint64_t seed);

}  // namespace fairlead::app
