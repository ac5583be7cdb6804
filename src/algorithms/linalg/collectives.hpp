// Collective helpers for distributed runs: a small matrix on every rank, and maxima over the ranks. All ranks call them
// in the same order.
#pragma once
#include <fairlead/runtime.hpp>

#include <complex>
#include <cstdint>
#include <span>
#include <vector>

namespace fairlead::linalg {

/// The whole matrix on every rank, column-major, although the program holds only the tiles of its rank.
template <class T>
std::vector<T> allgather(Runtime& runtime, const TiledMatrix<T>& matrix);

/// Shares rows that the ranks have computed in bands: band i is from rank i % `by`. `all`: column-major with `rows`
/// rows, on every rank; complete afterwards. Does nothing with one rank.
template <class T>
void allgather_bands(Runtime& runtime, T* all, std::int64_t rows, std::int64_t columns, std::int32_t band,
                     std::uint32_t by);

/// Replaces each number by its maximum over the ranks; NaN if one is NaN.
void allreduce_max(Runtime& runtime, std::span<double> numbers);

extern template std::vector<float> allgather<float>(Runtime&, const TiledMatrix<float>&);
extern template std::vector<double> allgather<double>(Runtime&, const TiledMatrix<double>&);
extern template void allgather_bands<float>(Runtime&, float*, std::int64_t, std::int64_t, std::int32_t,
                                            std::uint32_t);
extern template void allgather_bands<double>(Runtime&, double*, std::int64_t, std::int64_t, std::int32_t,
                                             std::uint32_t);
extern template void allgather_bands<std::complex<float>>(Runtime&, std::complex<float>*, std::int64_t,
                                                          std::int64_t, std::int32_t, std::uint32_t);
extern template void allgather_bands<std::complex<double>>(Runtime&, std::complex<double>*, std::int64_t,
                                                           std::int64_t, std::int32_t, std::uint32_t);

}  // namespace fairlead::linalg
