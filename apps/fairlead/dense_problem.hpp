// The dense operations that the command runs and reports on, and what the report needs to know of each.
#pragma once
#include <fairlead/config.hpp>
#include <fairlead/ids.hpp>
#include <fairlead/qr.hpp>
#include <fairlead/tiled_matrix.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "algorithms/linalg/blas/kernel_rates.hpp"
#include "algorithms/linalg/choose_tile.hpp"
#include "report/bounds.hpp"
#include "report/ceiling.hpp"

namespace fairlead::app {

struct DenseProblem;

/// One of them.
struct DenseOperation {
  std::string_view key;   ///< "cholesky", as the command line has it
  std::string_view name;  ///< "Cholesky factorization"
  Tiles tiles;            ///< which tiles each matrix has
  int matrices;           ///< of that size: 1, or A, B and C
  /// Which devices most of its tasks have bodies for: those of CUDA and OpenCL, none, or those of CUDA if Fairlead's own kernels are there.
  enum class Devices : std::uint8_t { all, none, cuda_by_own_kernels } devices = Devices::all;
  linalg::RateSet kernels;
  double (*flops)(const DenseProblem& problem);
  std::uint64_t (*tasks)(const DenseProblem& problem);
  report::IoBounds (*bounds)(const DenseProblem& problem);
  /// Null: the rates of its kernels are not measured.
  std::optional<report::Ceiling> (*ceiling)(const DenseProblem& problem, const report::TileRates&,
                                            unsigned cores);
  linalg::TileRequirements (*tile_needs)(std::size_t workers, bool own_products) = linalg::tile_needs;
  /// What it has besides the tiles of the matrices; null: nothing.
  Bytes (*besides)(const DenseProblem& problem) = nullptr;
};

/// On devices that are found or that the settings name.
bool may_run_on_devices(const DenseOperation& operation, const Config& config);

extern const DenseOperation cholesky_operation, lu_operation, incremental_lu_operation, qr_operation,
    product_operation;
/// Throws ConfigError naming those that there are.
const DenseOperation& find_operation(std::string_view key);

struct DenseProblem {
  const DenseOperation* operation = &cholesky_operation;
  std::string_view title;  ///< "Cholesky solve"
  std::int64_t n = 0;
  std::int64_t m = 0;  ///< rows, of QR; 0: n
  linalg::QrTree tree = linalg::QrTree::flat;
  std::int32_t tile = 0;
  std::size_t element_bytes = 8;
  bool own_products = false;  ///< tasks compute with Fairlead's: of Kernels
  bool in_tf32 = false;       ///< its factorization, where a device has that
  bool made = false;          ///< its matrix is computed when tiles are first needed, not read
  Bytes memory_limit = 0;
  Bytes reserved = 0;       ///< of the limit, for what is not tiles
  std::uint32_t ranks = 1;  ///< that have a part of the matrix each, and so much memory each

  std::int64_t rows() const noexcept { return m == 0 ? n : m; }
  std::int64_t tiles() const noexcept { return (n + tile - 1) / tile; }
  std::int64_t tile_rows() const noexcept { return (rows() + tile - 1) / tile; }
  /// Of all matrices, without what tiles add to them.
  Bytes matrix_bytes() const noexcept;
  /// All tiles of all matrices are in memory at once.
  bool fits() const noexcept;
  /// Sets the tile to the one that is asked for, or chooses it.
  void set_tile(const Config& config, std::size_t workers);
  /// For a tall matrix the tree that lets several workers at its columns.
  void set_tree() noexcept;
};

}  // namespace fairlead::app
