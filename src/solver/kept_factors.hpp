// A factored matrix that serves any number of solves: kept after a factorization, or read from a file with factors, whose
// tiles are then read in place.
#pragma once
#include <fairlead/config.hpp>
#include <fairlead/linalg.hpp>
#include <fairlead/runtime.hpp>
#include <fairlead/tiled_matrix.hpp>

#include <cstdint>
#include <memory>

#include "solver/dense_problem.hpp"
#include "solver/execution.hpp"
#include "solver/factor_file.hpp"
#include "solver/tiled_factors.hpp"

namespace fairlead::solver {

template <class T>
struct KeptFactors {
  DenseProblem problem;
  std::unique_ptr<const TiledMatrix<T>> a;   // its tiles are those of the factors
  std::unique_ptr<TiledFactors<T>> factors;  // uses a

  FactorShape shape() const;
};

/// Of factors in a file; without memory limit, workers and reserved memory.
DenseProblem problem_of(const FactorShape& shape);

/// Selects the scheduling policy for solves with factors in a file, unless the settings name one: tasks in the order in
/// which they become ready read the tiles in the order of the file.
void set_scheduler_of_stored_factors(Config& config);

/// The factors in a file of type T. The file is read when tasks need its data.
template <class T>
KeptFactors<T> stored_factors(Runtime& runtime, const linalg::Kernels& kernels, const DenseProblem& problem,
                              std::shared_ptr<const FactorFile> file);

/// How the right-hand sides are tiled.
enum class Sides : std::uint8_t {
  square,  ///< in tiles as those of the matrix: several workers share a row of tiles
  together,  ///< a tile has all columns: each tile of the factors is used by one task in each direction, so it is read
             ///< once, whatever the order of tasks
};

/// b becomes x: `columns` columns of as many elements as A has rows; of the result, the first ones are x. A phase of the
/// run; returns its seconds.
template <class T>
double solve_columns(Execution& run, const KeptFactors<T>& factors, T* x, std::int64_t columns, Sides sides);
/// The same with the transposed matrix, which must be square.
template <class T>
double solve_transposed_columns(Execution& run, const KeptFactors<T>& factors, T* x, std::int64_t columns,
                                Sides sides);

/// x becomes L x, with A = L L^H. Throws UsageError unless the factorization is Cholesky.
template <class T>
double multiply_columns_by_lower(Execution& run, const KeptFactors<T>& factors, T* x, std::int64_t columns,
                                 Sides sides);

/// Writes all data, a phase of the run; returns its seconds. The file still needs its commit.
template <class T>
double save_factors(Execution& run, const KeptFactors<T>& factors, FactorFileWriter& file);

}  // namespace fairlead::solver
