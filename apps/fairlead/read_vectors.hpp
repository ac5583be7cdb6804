// A few vectors from an .npy file, held in memory: right-hand sides, or the coordinates of points.
#pragma once
#include <fairlead/error.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "data/npy/npy_file.hpp"

namespace fairlead::app {

/// All of the file as T, column-major. Throws NumericalError naming the place of what is not finite.
template <class T>
std::vector<T> read_vectors(const data::NpyFile& file, std::span<std::byte> staging) {
  std::vector<T> all(file.rows() * file.columns());
  file.read_block<T>(0, file.rows(), 0, file.columns(), all.data(), file.rows(), staging);
  const auto bad = std::ranges::find_if_not(all, [](T value) { return std::isfinite(value); });
  if (bad != all.end()) {
    const auto at = static_cast<std::uint64_t>(bad - all.begin());
    throw NumericalError(fmt::format("{}: the element in row {}, column {} (counted from 0) is {}",
                                     file.path().string(), at % file.rows(), at / file.rows(),
                                     std::isnan(*bad) ? "not a number (NaN)" : "infinite"));
  }
  return all;
}

}  // namespace fairlead::app
