// The product with the triangle L of a Cholesky factorization: with z of independent standard normal variables, L z has the
// factored matrix as its covariance.
#pragma once
#include <cstdint>

#include <fairlead/linalg.hpp>

namespace fairlead::linalg {

/// b := L b, for the L of cholesky(). Each tile of L is used by one task for each column of tiles of b. Requirements on b
/// as for solve_factored().
template <class T>
void multiply_lower(Flow& flow, const Kernels& kernels, const TiledMatrix<T>& l, const TiledMatrix<T>& b);

/// The number of tasks that it submits.
std::uint64_t lower_product_tasks(std::int64_t tiles, std::int64_t columns_of_tiles) noexcept;

}  // namespace fairlead::linalg
