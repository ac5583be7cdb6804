// A factorization of a tiled matrix and its operations, for code that selects a factorization by name.
#pragma once
#include <fairlead/inertia.hpp>
#include <fairlead/inverse_norm.hpp>
#include <fairlead/ldlt.hpp>
#include <fairlead/linalg.hpp>
#include <fairlead/log_determinant.hpp>
#include <fairlead/ptg.hpp>
#include <fairlead/runtime.hpp>

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "solver/dense_problem.hpp"

namespace fairlead::solver {

/// Receives the data of a factorization other than the tiles of the matrix, each with the tile (i, k) it belongs to.
template <class T>
struct FactorDataVisitor {
  using Part = linalg::detail::FactorPart;
  std::function<void(Part, std::int32_t i, std::int32_t k, const Handle<Tile<T>>&)> tile;
  std::function<void(Part, std::int32_t i, std::int32_t k, const Handle<Vector<std::int32_t>>&)> exchanges;
};

template <class T>
class TiledFactors {
 public:
  virtual ~TiledFactors() = default;
  /// The tiles of the matrix become those of the factors.
  virtual void factor(Flow& flow) = 0;
  virtual void factor(ptg::Graph& graph) = 0;
  /// The first n rows of b become x.
  virtual void solve(Flow& flow, const TiledMatrix<T>& b) = 0;
  virtual void solve(ptg::Graph& graph, const TiledMatrix<T>& b) = 0;
  virtual std::uint64_t solve_tasks(std::int64_t columns_of_tiles) const = 0;
  /// The inverse of the matrix, or of its triangle R if that is not square.
  virtual linalg::AppliedInverse<T> inverse() = 0;
  /// The largest absolute value that grew in the factorization, after it; none: that of the upper triangle.
  virtual std::optional<double> largest_element() const { return std::nullopt; }
  /// The determinant, if it is not that of the triangle. Waits for the tasks of the flow.
  virtual std::optional<linalg::LogDeterminant> log_determinant(Flow&) const { return std::nullopt; }
  /// The inertia of the matrix; none if the factors do not show it. Waits for the tasks of the flow.
  virtual std::optional<linalg::Inertia> inertia(Flow&) const { return std::nullopt; }
  /// b := Q b; throws UsageError unless the factorization is QR, as does the next one.
  virtual void apply_q(Flow& flow, const TiledMatrix<T>& b);
  /// b := Q^H b
  virtual void rotate(Flow& flow, const TiledMatrix<T>& b);
  /// b := L b; throws UsageError unless the factorization is Cholesky.
  virtual void multiply_lower(Flow& flow, const TiledMatrix<T>& b);
  /// What the order of the tasks of factor() depends on, other than the problem: it is chosen for the memory and the
  /// workers. Empty: nothing.
  virtual std::string task_order() const { return {}; }
  /// The order of another run, for the same tasks. Throws UsageError if it is none.
  virtual void set_task_order(const std::string&) {}
  virtual void visit_data(const FactorDataVisitor<T>&) const {}
  /// As DenseProblem's; 0: the factorization has none.
  virtual std::int32_t inner_block() const { return 0; }
  /// Of a complex matrix, if the factorization is for both kinds. Set before the factorization.
  virtual linalg::Symmetry symmetry() const { return linalg::Symmetry::hermitian; }
  virtual void set_symmetry(linalg::Symmetry) {}
};

/// The kernels of a factorization, and those of all that follows.
struct FactorKernels {
  const linalg::Kernels& factor;  ///< of Cholesky only: others factor with `solve`
  const linalg::Kernels& solve;
};

/// The factors for `problem.operation`, which must not be a product. `a` and the runtime must stay. `stored`: provides
/// the data of factors that were computed before, with `a`; null: `a` is to be factored.
template <class T>
std::unique_ptr<TiledFactors<T>> make_factors(const DenseProblem& problem, const FactorKernels& kernels,
                                              Runtime& runtime, const TiledMatrix<T>& a,
                                              linalg::detail::StoredFactors<T>* stored = nullptr);

}  // namespace fairlead::solver
