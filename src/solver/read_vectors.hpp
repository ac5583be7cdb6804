// A few vectors from an .npy file, held in memory: right-hand sides, or the coordinates of points.
#pragma once
#include <fairlead/error.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "algorithms/linalg/collectives.hpp"
#include "algorithms/linalg/stored_source.hpp"
#include "base/scalar.hpp"
#include "data/matrix/stored_matrix.hpp"
#include "solver/grid_rank.hpp"

namespace fairlead::solver {

/// All of the file as T, column-major. Throws NumericalError that names the place of a value that is not
/// finite.
template <class T>
std::vector<T> read_vectors(const data::StoredMatrix& file, std::span<std::byte> staging) {
  std::vector<T> all(file.rows() * file.columns());
  file.read_block<T>(0, file.rows(), 0, file.columns(), all.data(), file.rows(), staging);
  const auto bad = std::ranges::find_if_not(all, is_finite_number<T>);
  if (bad != all.end()) {
    const auto at = static_cast<std::uint64_t>(bad - all.begin());
    throw NumericalError(fmt::format("{}: the element in row {}, column {} (counted from 0) is {}",
                                     file.name(), at % file.rows(), at / file.rows(),
                                     is_not_a_number(*bad) ? "not a number (NaN)" : "infinite"));
  }
  return all;
}

/// The vectors on every rank, whether it reads them or not. All ranks call it, and all throw if a value is
/// invalid.
template <class T>
std::vector<T> vectors_of_all(Runtime& runtime, const GridRank& place, const data::StoredMatrix& file) {
  constexpr std::int32_t rows_at_once = 1024;
  std::vector<T> all;
  if (place.reads())
    alike(place.first(), [&] {
      std::vector<std::byte> staging(linalg::source_staging_bytes);
      all = read_vectors<T>(file, staging);
    });
  all.resize(file.rows() * file.columns());
  if (place.readers == 1)
    linalg::allgather_bands(runtime, all.data(), static_cast<std::int64_t>(file.rows()),
                            static_cast<std::int64_t>(file.columns()), rows_at_once, 1);
  return all;
}

}  // namespace fairlead::solver
