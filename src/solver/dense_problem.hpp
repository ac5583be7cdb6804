// The table of dense operations: methods of the solver, and benchmarks.
#pragma once
#include <fairlead/config.hpp>
#include <fairlead/detail/stored_factors.hpp>
#include <fairlead/element_type.hpp>
#include <fairlead/ids.hpp>
#include <fairlead/ldlt.hpp>
#include <fairlead/qr.hpp>
#include <fairlead/runtime.hpp>
#include <fairlead/stored.hpp>
#include <fairlead/tiled_matrix.hpp>

#include <complex>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "algorithms/linalg/blas/kernel_rates.hpp"
#include "algorithms/linalg/choose_tile.hpp"
#include "report/bounds.hpp"
#include "report/ceiling.hpp"

namespace fairlead::linalg {
enum class Method : std::uint8_t;
}  // namespace fairlead::linalg

namespace fairlead::solver {

struct DenseProblem;
struct FactorKernels;
template <class T>
class TiledFactors;

/// Makes the object that factors `a` in place: see make_factors().
template <class T>
using FactorsMaker = std::unique_ptr<TiledFactors<T>> (*)(const DenseProblem& problem,
                                                          const FactorKernels& kernels, Runtime& runtime,
                                                          const TiledMatrix<T>& a,
                                                          linalg::detail::StoredFactors<T>* stored);

/// For each type of elements.
struct FactorsMakers {
  FactorsMaker<float> in_single;
  FactorsMaker<double> in_double;
  FactorsMaker<std::complex<float>> in_complex_single;
  FactorsMaker<std::complex<double>> in_complex_double;
  bool as_graph;  ///< there is a parameterized graph of the factorization
};

/// The matrices that a method suits: benchmarks and tests generate such ones.
enum class MatrixKind : std::uint8_t {
  general,
  dominant,   // diagonally dominant
  definite,   // symmetric positive definite
  symmetric,  // indefinite
  triangular,
};

/// The properties of a factorization with which systems are solved.
struct SolveMethod {
  linalg::Method method;
  std::uint32_t number;  ///< in files with factors, and so never changed; 0: factors cannot be saved
  MatrixKind matrices = MatrixKind::general;
  const FactorsMakers* factors;
  std::string_view (*title)(const DenseProblem& problem);  ///< "Cholesky solve"
  /// Operations of a solve with the factors, on elements.
  double (*flops)(const DenseProblem& problem, double right_hand_sides);
  bool symmetric = false;        ///< for symmetric matrices only, of which the tiles have the lower triangle
  bool grows = false;            ///< elements may grow: growth is measured, and the solution refined
  bool usually_refines = false;  ///< for a random matrix, by one step: a plan expects it
  bool least_squares = false;    ///< also for more rows than columns
  /// lower or upper: for triangular matrices only. The tiles have the lower triangle, or the adjoint of the upper one.
  linalg::Stored triangle = linalg::Stored::both;
};

/// A dense operation: a factorization, by which systems are solved, or a product.
struct DenseOperation {
  std::string_view key;           ///< "cholesky", as the command line has it
  std::string_view former_key{};  ///< accepted too, with a note
  std::string_view name;          ///< "Cholesky factorization"
  std::string_view jdf{};         ///< the file of its graph in JDF, "cholesky"; empty: none
  Tiles tiles;                    ///< which tiles each matrix has
  int matrices;                   ///< of that size: 1, or A, B and C
  /// Devices for which most of its tasks have bodies: CUDA and OpenCL, none, or CUDA with Fairlead's own
  /// kernels.
  enum class Devices : std::uint8_t { all, none, cuda_by_own_kernels } devices = Devices::all;
  /// The grid of ranks that moves the fewest bytes: as square as possible, or rows only, if most tasks read tiles of their own
  /// row and write one of it.
  enum class RankGrid : std::uint8_t { square, rows } rank_grid = RankGrid::square;
  bool factors_whole_panels = false;  ///< a task needs a column of tiles in memory
  linalg::RateSet kernels;
  double (*flops)(const DenseProblem& problem);  ///< on elements: see DenseProblem::flops()
  std::uint64_t (*tasks)(const DenseProblem& problem);
  report::IoBounds (*bounds)(const DenseProblem& problem);
  /// Null: the rates of its kernels are not measured.
  std::optional<report::Ceiling> (*ceiling)(const DenseProblem& problem, const report::TileRates&,
                                            unsigned cores);
  linalg::TileRequirements (*tile_needs)(std::size_t workers, bool own_products) = linalg::tile_needs;
  /// Bytes of the data of the largest task of a factorization; null: unknown.
  Bytes (*task_bytes)(const DenseProblem& problem) = nullptr;
  /// Bytes in addition to the tiles of the matrices; null: none.
  Bytes (*extra_bytes)(const DenseProblem& problem) = nullptr;
  std::optional<SolveMethod> solve{};  ///< none: not a factorization
};

/// True if there is a parameterized graph of the operation.
bool has_graph(const DenseOperation& operation) noexcept;
/// True if the operation can run on the devices that are found or that the settings name.
bool may_run_on_devices(const DenseOperation& operation, ElementType element, const Config& config);

extern const DenseOperation cholesky_operation, ldlt_operation, pivoted_lu_operation,
    incremental_lu_operation, unpivoted_lu_operation, qr_operation, triangular_operation, product_operation;
/// triangular_operation for an upper triangular matrix; not in the table, where that stands for both.
extern const DenseOperation upper_triangular_operation;
extern const FactorsMakers cholesky_factors, ldlt_factors, pivoted_lu_factors, incremental_lu_factors,
    lu_factors, qr_factors, triangular_factors;

/// The table: the methods in the order of linalg::Method, then the other operations.
std::span<const DenseOperation* const> all_operations() noexcept;
/// Those of the table by which systems are solved.
std::span<const DenseOperation* const> all_methods() noexcept;
/// The method with that number in files with factors; null: none.
const DenseOperation* method_numbered(std::uint32_t number) noexcept;
/// "auto|cholesky|ldlt|...": the choices of --method, in the syntax of Setting::choices, with former keys.
std::string method_choices();
/// "cholesky, ldlt, ... or gemm": the keys of the operations that `includes` accepts, or all; the last after `before_last`.
std::string keys_of_operations(std::string_view before_last,
                               bool (*includes)(const DenseOperation&) = nullptr);
/// By its key or its former one. Throws ConfigError that lists the operations.
const DenseOperation& find_operation(std::string_view key);
/// States the new name if `key` is a former one; otherwise empty.
std::string renaming_note(std::string_view key);

struct DenseProblem {
  const DenseOperation* operation = &cholesky_operation;
  std::string_view title;  ///< "Cholesky solve"
  std::int64_t n = 0;
  std::int64_t m = 0;  ///< rows, of QR; 0: n
  linalg::QrTree tree = linalg::QrTree::flat;
  linalg::Symmetry symmetry =
      linalg::Symmetry::hermitian;  ///< of LDL^T of a complex matrix in a file of factors
  std::int32_t tile = 0;
  std::int32_t inner_block = 0;  ///< of QR and of LU with incremental pivoting; 0: selected by tile size
  ElementType element = ElementType::float64;
  bool own_products = false;  ///< tasks use Fairlead's own products
  bool in_tf32 = false;       ///< the factorization, on devices that support it
  bool made = false;          ///< its matrix is computed when tiles are first needed, not read
  Bytes memory_limit = 0;
  Bytes reserved = 0;       ///< part of the limit that is not for tiles
  std::uint32_t ranks = 1;  ///< each with a part of the matrix and memory_limit bytes

  std::size_t element_bytes() const noexcept { return bytes_of(element); }
  /// Operations on real numbers: those of the operation's table are on elements, of which a complex one takes four.
  double flops() const;
  double solve_flops(double right_hand_sides) const;
  std::int64_t rows() const noexcept { return m == 0 ? n : m; }
  std::int64_t tiles() const noexcept { return (n + tile - 1) / tile; }
  std::int64_t tile_rows() const noexcept { return (rows() + tile - 1) / tile; }
  /// Bytes of all matrices, without the overhead of tiles.
  Bytes matrix_bytes() const noexcept;
  /// Bytes of all tiles of all matrices, and of what the operation stores in addition.
  Bytes stored_bytes() const noexcept;
  /// Whether all tiles of all matrices fit in memory at once.
  bool fits() const noexcept;
  /// Sets the tile from --tile, or chooses it.
  void set_tile(const Config& config, std::size_t workers);
  /// Sets the binary tree for a tall matrix, so that several workers share its columns.
  void set_tree() noexcept;
};

}  // namespace fairlead::solver
