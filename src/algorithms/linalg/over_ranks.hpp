// What a program over ranks needs besides algorithms: all of a small matrix on each rank, and numbers that are of all.
// All ranks call these in the same order.
#pragma once
#include <fairlead/runtime.hpp>

#include <cstdint>
#include <span>
#include <vector>

namespace fairlead::linalg {

/// The whole matrix on every rank, column by column. Of all that the program has is one rank's part.
template <class T>
std::vector<T> gathered(Runtime& runtime, const TiledMatrix<T>& matrix);

/// Of rows in bands each rank has computed some of its own, and then has all: band i is rank i % `by`'s. `all`: column-major
/// with as many rows, on every rank. Nothing happens where one computes alone.
template <class T>
void share_bands(Runtime& runtime, T* all, std::int64_t rows, std::int64_t columns, std::int32_t band,
                 std::uint32_t by);

/// Each number becomes the largest that a rank has given in its place; NaN if one is.
void largest_of_ranks(Runtime& runtime, std::span<double> numbers);

extern template std::vector<float> gathered<float>(Runtime&, const TiledMatrix<float>&);
extern template std::vector<double> gathered<double>(Runtime&, const TiledMatrix<double>&);
extern template void share_bands<float>(Runtime&, float*, std::int64_t, std::int64_t, std::int32_t,
                                        std::uint32_t);
extern template void share_bands<double>(Runtime&, double*, std::int64_t, std::int64_t, std::int32_t,
                                         std::uint32_t);

}  // namespace fairlead::linalg
