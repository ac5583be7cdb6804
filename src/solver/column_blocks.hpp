// Right-hand sides that do not fit into memory at once: with factors in a file they are solved in blocks of columns.
#pragma once
#include <fairlead/config.hpp>
#include <fairlead/error.hpp>
#include <fairlead/matrix_file.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "algorithms/linalg/source_matrix.hpp"
#include "algorithms/linalg/stored_source.hpp"
#include "base/scalar.hpp"
#include "solver/linear_system.hpp"

namespace fairlead::solver {

/// The blocks of a system that is solved in T.
template <class T>
class ColumnBlocks {
 public:
  /// One block, unless the system has factors and its columns would take most of the memory.
  ColumnBlocks(const LinearSystem& system, const Config& config)
      : system_(system), rows_(system.rows()), columns_(system.right_hand_sides()), at_once_(columns_) {
    if (system.factors == nullptr) return;
    // All columns at once: x, and with a matrix the residual and the correction of a refinement.
    const Bytes elements = static_cast<Bytes>(rows_),
                whole =
                    elements * (sizeof(T) + (system.a == nullptr ? 0 : sizeof(WideOf<T>) + 2 * sizeof(T))),
                memory = config.bytes("memory");
    if (whole * static_cast<Bytes>(columns_) <= memory / 4 * 3) return;
    // A block also needs its right-hand sides.
    const auto fit =
        static_cast<std::int64_t>(std::max<Bytes>(1, memory / 2 / (whole + elements * sizeof(T))));
    at_once_ = std::min(columns_, fit);
    // Blocks of whole tiles use the kernels best.
    const std::int64_t tile = system.factors->shape().tile;
    if (at_once_ > tile) at_once_ = at_once_ / tile * tile;
  }

  std::int64_t count() const noexcept { return (columns_ + at_once_ - 1) / at_once_; }
  std::uint64_t unknowns() const noexcept { return static_cast<std::uint64_t>(system_.unknowns()); }
  std::int64_t first(std::int64_t block) const noexcept { return block * at_once_; }
  std::int64_t columns(std::int64_t block) const noexcept {
    return std::min(at_once_, columns_ - first(block));
  }
  /// Bytes of memory for the right-hand sides of a block.
  Bytes bytes() const noexcept { return count() == 1 ? 0 : static_cast<Bytes>(rows_ * at_once_) * sizeof(T); }
  /// The system with these right-hand sides, which are read now; valid until the next call. Throws NumericalError for an
  /// element that is not finite.
  LinearSystem part(std::int64_t block) {
    if (count() == 1) return system_;
    const auto rows = static_cast<std::uint64_t>(rows_), wanted = static_cast<std::uint64_t>(columns(block));
    b_.resize(rows * wanted);
    std::vector<std::byte> staging(linalg::source_staging_bytes);
    system_.b->template read_block<T>(0, rows, static_cast<std::uint64_t>(first(block)), wanted, b_.data(),
                                      rows, staging);
    const auto bad = std::ranges::find_if_not(b_, is_finite_number<T>);
    if (bad != b_.end())
      throw NumericalError(fmt::format("{}: the element in row {}, column {} (counted from 0) is {}",
                                       system_.b->name(), (bad - b_.begin()) % rows_,
                                       first(block) + (bad - b_.begin()) / rows_,
                                       is_not_a_number(*bad) ? "not a number (NaN)" : "infinite"));
    LinearSystem part = system_;
    part.b = linalg::stored_matrix_of(linalg::matrix_in_memory(b_.data(), rows_, columns(block),
                                                               StorageOrder::fortran, 0, system_.b->name()));
    return part;
  }

 private:
  const LinearSystem& system_;
  std::int64_t rows_, columns_, at_once_;
  std::vector<T> b_;
};

/// Adds the result of a further block.
inline void add_block(SolveResult& all, const SolveResult& block) {
  all.backward_error = std::isnan(block.backward_error) ? block.backward_error
                                                        : std::max(all.backward_error, block.backward_error);
  if (block.refinement_steps)
    all.refinement_steps = std::max(all.refinement_steps.value_or(0), *block.refinement_steps);
  if (block.condition && all.condition && !(block.condition->forward_error <= all.condition->forward_error)) {
    const std::uint64_t columns = all.condition->columns;
    all.condition = block.condition;
    all.condition->columns += columns;
  } else if (block.condition && all.condition) {
    all.condition->columns += block.condition->columns;
  }
  if (block.input_bytes_read)
    all.input_bytes_read = std::max(all.input_bytes_read.value_or(0), *block.input_bytes_read);
  all.seconds += block.seconds;
}

}  // namespace fairlead::solver
