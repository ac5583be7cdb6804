// What a program over ranks needs besides algorithms: all of a small matrix on each rank, and numbers that are of all.
// All ranks call these in the same order.
#pragma once
#include <fairlead/runtime.hpp>

#include <span>
#include <vector>

namespace fairlead::linalg {

/// The whole matrix on every rank, column by column. Of all that the program has is one rank's part.
template <class T>
std::vector<T> gathered(Runtime& runtime, const TiledMatrix<T>& matrix);

/// Each number becomes the largest that a rank has given in its place; NaN if one is.
void largest_of_ranks(Runtime& runtime, std::span<double> numbers);

extern template std::vector<float> gathered<float>(Runtime&, const TiledMatrix<float>&);
extern template std::vector<double> gathered<double>(Runtime&, const TiledMatrix<double>&);

}  // namespace fairlead::linalg
