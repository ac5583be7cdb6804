// The table of operations, and sizes.
#include "solver/dense_problem.hpp"

#include <fairlead/error.hpp>
#include <fairlead/incremental_lu.hpp>
#include <fairlead/ldlt.hpp>
#include <fairlead/linalg.hpp>
#include <fairlead/pivoted_lu.hpp>
#include <fairlead/qr.hpp>
#include <fairlead/solver.hpp>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <string>
#include <vector>

#include "algorithms/linalg/blas/flops.hpp"
#include "backend/device_list.hpp"
#include "base/pages.hpp"
#include "base/scalar.hpp"
#include "base/suggest.hpp"
#include "solver/load_kernels.hpp"
#include "solver/tiled_factors.hpp"

namespace fairlead::solver {

namespace {

/// A tile takes some hundreds of bytes, and the number of tasks grows with the product.
constexpr std::int64_t most_tiles_a_side = 2048;

double real(std::int64_t n) { return static_cast<double>(n); }
std::uint64_t whole(std::int64_t n) { return static_cast<std::uint64_t>(n); }

using Problem = DenseProblem;
using Rates = report::TileRates;
using Ceiling = std::optional<report::Ceiling>;

double product_flops_of(const Problem& p) { return report::product_flops(real(p.n), real(p.n), real(p.n)); }
double no_flops_of(const Problem&) { return 0; }
double cholesky_flops_of(const Problem& p) { return report::cholesky_flops(real(p.n)); }
double lu_flops_of(const Problem& p) { return report::lu_flops(real(p.n)); }
double qr_flops_of(const Problem& p) { return report::qr_flops(real(p.rows()), real(p.n)); }

std::uint64_t product_tasks_of(const Problem& p) { return whole(p.tiles() * p.tiles() * p.tiles()); }
std::uint64_t cholesky_tasks_of(const Problem& p) { return linalg::cholesky_tasks(p.tiles()); }
std::uint64_t ldlt_tasks_of(const Problem& p) { return linalg::ldlt_tasks(p.tiles()); }
std::uint64_t diagonal_tasks_of(const Problem& p) { return whole(p.tiles()); }
std::uint64_t lu_tasks_of(const Problem& p) { return linalg::lu_tasks(p.tiles()); }
std::uint64_t pivoted_lu_tasks_of(const Problem& p) { return linalg::lu_pivoted_tasks(p.tiles(), p.tiles()); }
std::uint64_t incremental_lu_tasks_of(const Problem& p) { return linalg::lu_incremental_tasks(p.tiles()); }
std::uint64_t qr_tasks_of(const Problem& p) { return linalg::qr_tasks(p.tile_rows(), p.tiles(), p.tree); }

report::IoBounds product_bounds_of(const Problem& p) {
  return report::gemm_bounds(whole(p.n), whole(p.n), whole(p.n), p.element_bytes(), p.memory_limit);
}
report::IoBounds cholesky_bounds_of(const Problem& p) {
  return report::cholesky_bounds(whole(p.n), p.element_bytes(), p.memory_limit);
}
report::IoBounds lu_bounds_of(const Problem& p) {
  return report::lu_bounds(whole(p.n), p.element_bytes(), p.memory_limit);
}
report::IoBounds in_place_bounds_of(const Problem& p) {
  return report::in_place_bounds(whole(p.rows()), whole(p.n), p.element_bytes(), p.memory_limit);
}

Ceiling cholesky_ceiling_of(const Problem& p, const Rates& rates, unsigned cores) {
  return report::cholesky_ceiling(whole(p.n), whole(p.tile), rates, cores);
}
Ceiling lu_ceiling_of(const Problem& p, const Rates& rates, unsigned cores) {
  return report::lu_ceiling(whole(p.n), whole(p.tile), rates, cores);
}
Ceiling product_ceiling_of(const Problem& p, const Rates& rates, unsigned cores) {
  return report::product_ceiling(whole(p.n), whole(p.tile), rates, cores);
}

// A solve reads the triangle once.
report::IoBounds triangle_bounds_of(const Problem& p) {
  const Bytes bytes = p.matrix_bytes();
  return {.inputs = bytes, .compulsory = bytes, .fits = bytes <= p.memory_limit};
}

Bytes symmetric_pivots_of(const Problem& p) {
  return with_scalar(p.element, [&]<class T>() { return linalg::SymmetricPivots<T>::bytes(p.n, p.tile); });
}
Bytes row_pivots_of(const Problem& p) { return linalg::RowPivots<double>::bytes(p.n, p.tile); }
Bytes pivots_of(const Problem& p) {
  return with_scalar(p.element, [&]<class T>() { return linalg::IncrementalPivots<T>::bytes(p.n, p.tile); });
}
Bytes reflectors_of(const Problem& p) {
  return with_scalar(
      p.element, [&]<class T>() { return linalg::QrReflectors<T>::bytes(p.rows(), p.n, p.tile, p.tree); });
}

Bytes tile_bytes_of(const Problem& p) noexcept {
  return whole_pages_for(static_cast<Bytes>(p.tile) * static_cast<Bytes>(p.tile) * p.element_bytes());
}
Bytes three_tiles_of(const Problem& p) { return 3 * tile_bytes_of(p); }
// Two tiles of the matrix, one of another column, and the factors of the pair with their exchanges.
Bytes pairs_of(const Problem& p) { return 4 * tile_bytes_of(p) + whole_pages_for(1); }
Bytes copied_panel_of(const Problem& p, std::int64_t rows) {
  return with_scalar(p.element, [&]<class T>() { return linalg::RowPivots<T>::panel_bytes(rows, p.tile); });
}
Bytes panel_of(const Problem& p) { return std::max(three_tiles_of(p), copied_panel_of(p, p.n)); }
// The panel below the diagonal, or an exchange of rows and columns.
Bytes symmetric_panel_of(const Problem& p) {
  const std::int64_t below = p.n - std::min<std::int64_t>(p.n, p.tile);
  return std::max(6 * tile_bytes_of(p) + whole_pages_for(1), copied_panel_of(p, below));
}

std::string_view cholesky_title_of(const Problem&) { return "Cholesky solve"; }
std::string_view ldlt_title_of(const Problem&) { return "LDL^T solve"; }
std::string_view lu_title_of(const Problem&) { return "LU solve without pivoting"; }
std::string_view pivoted_lu_title_of(const Problem&) { return "LU solve with partial pivoting"; }
std::string_view incremental_lu_title_of(const Problem&) { return "LU solve with incremental pivoting"; }
std::string_view triangular_title_of(const Problem&) { return "Triangular solve"; }
std::string_view qr_title_of(const Problem& p) {
  if (p.m == 0) return "QR solve";
  return p.tree == linalg::QrTree::flat ? "QR least squares" : "QR least squares by a binary tree";
}

double triangular_solve_flops_of(const Problem& p, double sides) { return 2 * real(p.n) * real(p.n) * sides; }
double substitution_flops_of(const Problem& p, double sides) { return real(p.n) * real(p.n) * sides; }
double qr_solve_flops_of(const Problem& p, double sides) {
  return (4 * real(p.rows()) * real(p.n) - real(p.n) * real(p.n)) * sides;
}

// What is checked in place of a factorization: that no element of the diagonal is zero.
constexpr DenseOperation triangular_operation_for(linalg::Stored triangle, std::uint32_t number) {
  return {.key = "triangular",
          .name = "triangular solve",
          .tiles = Tiles::lower,
          .matrices = 1,
          .devices = DenseOperation::Devices::none,
          .kernels = linalg::RateSet::cholesky,
          .flops = no_flops_of,
          .tasks = diagonal_tasks_of,
          .bounds = triangle_bounds_of,
          .ceiling = nullptr,
          .task_bytes = three_tiles_of,
          .solve = SolveMethod{.method = linalg::Method::triangular,
                               .number = number,
                               .matrices = MatrixKind::triangular,
                               .factors = &triangular_factors,
                               .title = triangular_title_of,
                               .flops = substitution_flops_of,
                               .triangle = triangle}};
}

}  // namespace

constinit const DenseOperation cholesky_operation{.key = "cholesky",
                                                  .name = "Cholesky factorization",
                                                  .jdf = "cholesky",
                                                  .tiles = Tiles::lower,
                                                  .matrices = 1,
                                                  .kernels = linalg::RateSet::cholesky,
                                                  .flops = cholesky_flops_of,
                                                  .tasks = cholesky_tasks_of,
                                                  .bounds = cholesky_bounds_of,
                                                  .ceiling = cholesky_ceiling_of,
                                                  .task_bytes = three_tiles_of,
                                                  .solve = SolveMethod{.method = linalg::Method::cholesky,
                                                                       .number = 1,
                                                                       .matrices = MatrixKind::definite,
                                                                       .factors = &cholesky_factors,
                                                                       .title = cholesky_title_of,
                                                                       .flops = triangular_solve_flops_of,
                                                                       .symmetric = true}};
// The symmetric indefinite factorization has the operations and the least traffic of Cholesky.
constinit const DenseOperation ldlt_operation{.key = "ldlt",
                                              .name = "LDL^T factorization",
                                              .tiles = Tiles::lower,
                                              .matrices = 1,
                                              .devices = DenseOperation::Devices::none,
                                              .rank_grid = DenseOperation::RankGrid::rows,
                                              .factors_whole_panels = true,
                                              .kernels = linalg::RateSet::lu,
                                              .flops = cholesky_flops_of,
                                              .tasks = ldlt_tasks_of,
                                              .bounds = cholesky_bounds_of,
                                              .ceiling = nullptr,
                                              .tile_needs = linalg::tile_needs_of_symmetric_panels,
                                              .task_bytes = symmetric_panel_of,
                                              .extra_bytes = symmetric_pivots_of,
                                              .solve = SolveMethod{.method = linalg::Method::ldlt,
                                                                   .number = 6,
                                                                   .matrices = MatrixKind::symmetric,
                                                                   .factors = &ldlt_factors,
                                                                   .title = ldlt_title_of,
                                                                   .flops = triangular_solve_flops_of,
                                                                   .symmetric = true,
                                                                   .grows = true,
                                                                   .usually_refines = true}};
constinit const DenseOperation unpivoted_lu_operation{
    .key = "lu-nopivot",
    .name = "LU factorization without pivoting",
    .jdf = "lu",
    .tiles = Tiles::all,
    .matrices = 1,
    .kernels = linalg::RateSet::lu,
    .flops = lu_flops_of,
    .tasks = lu_tasks_of,
    .bounds = lu_bounds_of,
    .ceiling = lu_ceiling_of,
    .task_bytes = three_tiles_of,
    .solve = SolveMethod{.method = linalg::Method::lu_nopivot,
                         .number = 2,
                         .matrices = MatrixKind::dominant,
                         .factors = &lu_factors,
                         .title = lu_title_of,
                         .flops = triangular_solve_flops_of,
                         .grows = true}};
constinit const DenseOperation pivoted_lu_operation{.key = "lu",
                                                    .former_key = "lu-partial",
                                                    .name = "LU factorization with partial pivoting",
                                                    .tiles = Tiles::all,
                                                    .matrices = 1,
                                                    .devices = DenseOperation::Devices::none,
                                                    .factors_whole_panels = true,
                                                    .kernels = linalg::RateSet::lu,
                                                    .flops = lu_flops_of,
                                                    .tasks = pivoted_lu_tasks_of,
                                                    .bounds = lu_bounds_of,
                                                    .ceiling = nullptr,
                                                    .tile_needs = linalg::tile_needs_of_panels,
                                                    .task_bytes = panel_of,
                                                    .extra_bytes = row_pivots_of,
                                                    .solve = SolveMethod{.method = linalg::Method::lu,
                                                                         .number = 3,
                                                                         .factors = &pivoted_lu_factors,
                                                                         .title = pivoted_lu_title_of,
                                                                         .flops = triangular_solve_flops_of,
                                                                         .grows = true}};
constinit const DenseOperation incremental_lu_operation{
    .key = "lu-incremental",
    .name = "LU factorization with incremental pivoting",
    .tiles = Tiles::all,
    .matrices = 1,
    .devices = DenseOperation::Devices::none,
    .kernels = linalg::RateSet::product,
    .flops = lu_flops_of,
    .tasks = incremental_lu_tasks_of,
    .bounds = in_place_bounds_of,
    .ceiling = nullptr,
    .tile_needs = linalg::tile_needs_of_pairs,
    .task_bytes = pairs_of,
    .extra_bytes = pivots_of,
    .solve = SolveMethod{.method = linalg::Method::lu_incremental,
                         .number = 4,
                         .factors = &incremental_lu_factors,
                         .title = incremental_lu_title_of,
                         .flops = triangular_solve_flops_of,
                         .grows = true,
                         .usually_refines = true}};
constinit const DenseOperation qr_operation{.key = "qr",
                                            .name = "QR factorization",
                                            .tiles = Tiles::all,
                                            .matrices = 1,
                                            .devices = DenseOperation::Devices::cuda_by_own_kernels,
                                            .kernels = linalg::RateSet::product,
                                            .flops = qr_flops_of,
                                            .tasks = qr_tasks_of,
                                            .bounds = in_place_bounds_of,
                                            .ceiling = nullptr,
                                            .tile_needs = linalg::tile_needs_of_pairs,
                                            .task_bytes = pairs_of,
                                            .extra_bytes = reflectors_of,
                                            .solve = SolveMethod{.method = linalg::Method::qr,
                                                                 .number = 5,
                                                                 .factors = &qr_factors,
                                                                 .title = qr_title_of,
                                                                 .flops = qr_solve_flops_of,
                                                                 .least_squares = true}};
constinit const DenseOperation triangular_operation = triangular_operation_for(linalg::Stored::lower, 7);
constinit const DenseOperation upper_triangular_operation =
    triangular_operation_for(linalg::Stored::upper, 8);
constinit const DenseOperation product_operation{.key = "gemm",
                                                 .name = "matrix product C += A B",
                                                 .jdf = "gemm",
                                                 .tiles = Tiles::all,
                                                 .matrices = 3,
                                                 .kernels = linalg::RateSet::product,
                                                 .flops = product_flops_of,
                                                 .tasks = product_tasks_of,
                                                 .bounds = product_bounds_of,
                                                 .ceiling = product_ceiling_of};

bool has_graph(const DenseOperation& operation) noexcept {
  return !operation.solve || operation.solve->factors->as_graph;
}

bool may_run_on_devices(const DenseOperation& operation, ElementType element, const Config& config) {
  using enum DenseOperation::Devices;
  if (is_complex(element)) return false;
  if (operation.devices != cuda_by_own_kernels) return operation.devices == all;
  const bool others = config.has("devices") && config.text("devices").find("cuda") == std::string::npos;
  return has_cuda_kernels(config) && !others;
}

namespace {
constexpr std::array operations{&cholesky_operation,       &ldlt_operation,         &pivoted_lu_operation,
                                &incremental_lu_operation, &unpivoted_lu_operation, &qr_operation,
                                &triangular_operation,     &product_operation};
}  // namespace

std::span<const DenseOperation* const> all_operations() noexcept { return operations; }

std::span<const DenseOperation* const> all_methods() noexcept {
  const auto end = std::ranges::find_if(operations, [](const auto* operation) { return !operation->solve; });
  return {operations.begin(), end};
}

const DenseOperation* method_numbered(std::uint32_t number) noexcept {
  for (const DenseOperation* const method : all_methods())
    if (number != 0 && method->solve->number == number) return method;
  if (number == upper_triangular_operation.solve->number) return &upper_triangular_operation;
  return nullptr;
}

std::string method_choices() {
  std::string choices = "auto", former;
  for (const DenseOperation* const method : all_methods()) {
    choices += fmt::format("|{}", method->key);
    if (!method->former_key.empty()) former += fmt::format("|={}", method->former_key);
  }
  return choices + former;
}

std::string keys_of_operations(std::string_view before_last, bool (*includes)(const DenseOperation&)) {
  std::vector<std::string_view> keys;
  for (const DenseOperation* const operation : operations)
    if (includes == nullptr || includes(*operation)) keys.push_back(operation->key);
  if (keys.size() < 2) return fmt::format("{}", fmt::join(keys, ""));
  const std::string_view last = keys.back();
  keys.pop_back();
  return fmt::format("{}{}{}", fmt::join(keys, ", "), before_last, last);
}

const DenseOperation& find_operation(std::string_view key) {
  std::array<std::string_view, operations.size()> names;
  std::ranges::transform(operations, names.begin(), &DenseOperation::key);
  for (const DenseOperation* operation : operations)
    if (operation->key == key || (!key.empty() && operation->former_key == key)) return *operation;
  const std::string near = did_you_mean(key, names);
  throw ConfigError(fmt::format("unknown benchmark \"{}\"{}", key,
                                near.empty() ? fmt::format("; there are {}", fmt::join(names, ", ")) : near));
}

std::string renaming_note(std::string_view key) {
  for (const DenseOperation* operation : operations)
    if (!key.empty() && operation->former_key == key)
      return fmt::format("{} is now called {}; the old name will be removed after 0.2", key, operation->key);
  return {};
}

double DenseProblem::flops() const { return linalg::real_flops_of(element) * operation->flops(*this); }
double DenseProblem::solve_flops(double right_hand_sides) const {
  return linalg::real_flops_of(element) * operation->solve->flops(*this, right_hand_sides);
}

Bytes DenseProblem::matrix_bytes() const noexcept {
  const auto size = static_cast<std::uint64_t>(n);
  if (operation->tiles == Tiles::lower) return report::triangle_bytes(size, element_bytes());
  return static_cast<Bytes>(operation->matrices) * static_cast<Bytes>(rows()) * size * element_bytes();
}

namespace {
/// Whole pages of the tiles of all matrices; of several ranks, of the one that has most of them.
Bytes bytes_of_tiles(const DenseProblem& problem, std::int64_t ranks) noexcept {
  const std::int64_t side = problem.tiles();
  const std::int64_t count =
      problem.operation->tiles == Tiles::lower ? side * (side + 1) / 2 : problem.tile_rows() * side;
  const std::int64_t most = (problem.operation->matrices * count + ranks - 1) / ranks;
  return static_cast<Bytes>(most) * tile_bytes_of(problem);
}
Bytes extra_bytes_of(const DenseProblem& problem) noexcept {
  return problem.operation->extra_bytes != nullptr ? problem.operation->extra_bytes(problem) : 0;
}
}  // namespace

Bytes DenseProblem::stored_bytes() const noexcept { return bytes_of_tiles(*this, 1) + extra_bytes_of(*this); }

bool DenseProblem::fits() const noexcept {
  return bytes_of_tiles(*this, ranks) + extra_bytes_of(*this) / ranks + reserved <= memory_limit;
}

void DenseProblem::set_tree() noexcept {
  constexpr std::int64_t tall = 4;
  tree = tile_rows() >= tall * tiles() ? linalg::QrTree::binary : linalg::QrTree::flat;
}

namespace {
/// The tile of a matrix that is not square: as for a square one with as many elements, but at most the
/// maximal number a side.
std::int32_t tile_for(const DenseProblem& problem, Bytes memory, std::size_t workers,
                      const linalg::TileRequirements& needs) {
  const auto choose = [&](std::int64_t side) {
    return linalg::choose_tile(side, problem.element_bytes(), memory, workers, needs);
  };
  if (problem.m == 0) return choose(problem.n);
  const auto side = static_cast<std::int64_t>(std::sqrt(real(problem.m) * real(problem.n)));
  return std::max(choose(side),
                  static_cast<std::int32_t>((problem.m + most_tiles_a_side - 1) / most_tiles_a_side));
}
}  // namespace

void DenseProblem::set_tile(const Config& config, std::size_t workers) {
  const Bytes for_tiles = memory_limit > reserved ? (memory_limit - reserved) * ranks : 0;
  // With a device, the number of cores does not require more tiles.
  constexpr std::size_t few = 8;
  const auto smallest =
      backend::smallest_shared_device_memory(config.text_or("devices", ""), backend::default_backends());
  const bool on_devices = smallest && may_run_on_devices(*operation, element, config);
  tile =
      config.has("tile") ? static_cast<std::int32_t>(std::min<std::uint64_t>(config.count("tile"), 1 << 30))
      : on_devices
          ? tile_for(*this, for_tiles, std::min(workers * ranks, few),
                     linalg::tile_needs_of_devices(*smallest / ranks))
          : tile_for(*this, for_tiles, workers * ranks, operation->tile_needs(workers * ranks, own_products));
  if (tile_rows() <= most_tiles_a_side) return;
  throw ConfigError(fmt::format(
      "{}: {} = {} in tiles of {} gives {} tiles a side; at most {} are possible: use --tile {} or more",
      config.has("tile") ? fmt::format("--tile {}", config.count("tile")) : "the tiles are too small",
      m == 0 ? "n" : "m", rows(), tile, tile_rows(), most_tiles_a_side,
      (rows() + most_tiles_a_side - 1) / most_tiles_a_side));
}

}  // namespace fairlead::solver
