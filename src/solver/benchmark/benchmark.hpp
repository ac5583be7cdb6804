// Benchmarks of the dense operations: matrices that are generated, the operation on them, and a check of the result. The
// caller has an execution, calls the functions in their order, and measures what it wants to.
#pragma once
#include <fairlead/linalg.hpp>

#include <cstdint>
#include <memory>
#include <optional>

#include "solver/dense_problem.hpp"
#include "solver/execution.hpp"
#include "solver/grid_rank.hpp"

namespace fairlead::solver {

template <class T>
class Benchmark {
 public:
  virtual ~Benchmark() = default;
  /// Bytes of memory in addition to tiles, for this number of workers.
  virtual Bytes reserved_bytes(std::size_t workers) const = 0;
  /// Creates the matrices with tiles of problem.tile. They must not outlive the run. Each rank has its own
  /// benchmark, and all ranks call every function.
  virtual void begin(Execution& run, const GridRank& place, const DenseProblem& problem) = 0;
  virtual std::uint64_t generation_tasks() const = 0;
  virtual void generate(Flow& flow) = 0;
  /// Submits to the flow or runs a graph: see Execution::compute().
  virtual void compute() = 0;
  /// The digest of the result's bits, as a separate phase.
  virtual std::uint64_t digest() = 0;
  /// The backward error of the solution of a system, or of a product, as separate phases. Called once, at the
  /// end.
  virtual double check() = 0;
  /// Element growth, for methods whose pivoting does not bound it; known after check().
  virtual std::optional<double> growth() const { return std::nullopt; }
  /// Calls of cuBLAS by the operation that computed in TF32.
  virtual std::uint64_t calls_in_tf32() const { return 0; }
  /// Steps that the solution of check() took.
  virtual std::optional<int> refinement_steps() const { return std::nullopt; }
  /// Releases the matrices.
  virtual void end() = 0;
};

/// For `problem.operation`; T: float or double. `seed` determines the matrices.
template <class T>
std::unique_ptr<Benchmark<T>> make_benchmark(const DenseProblem& problem, linalg::Kernels kernels,
                                             std::uint64_t seed);

}  // namespace fairlead::solver
