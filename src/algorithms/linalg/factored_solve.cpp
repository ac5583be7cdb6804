// Solves with Cholesky or LU factors: forward substitution by columns of L, then backward substitution by
// columns of L^H or U, from the last. The second sweep starts with the tiles that the first sweep used last,
// which may still be in memory.
#include "algorithms/linalg/factored_solve.hpp"

#include "algorithms/linalg/shapes.hpp"

namespace fairlead::linalg {

namespace {

/// Calls submit(b, c) for each column of tiles of each b.
template <class T, class Submit>
void for_each_column(std::initializer_list<const TiledMatrix<T>*> bs, const Submit& submit) {
  for (const TiledMatrix<T>* b : bs)
    for (std::int32_t c = 0; c < b->tile_columns(); ++c) submit(*b, c);
}

}  // namespace

template <class T>
void solve_forward(Flow& flow, const Kernels& kernels, Factors factors, const TiledMatrix<T>& a,
                   std::initializer_list<const TiledMatrix<T>*> bs) {
  const SolveKernels<T> tile(kernels, factors);
  const std::int32_t nt = a.tile_rows();
  for (std::int32_t k = 0; k < nt; ++k) {
    for_each_column(bs, [&](const TiledMatrix<T>& b, std::int32_t c) {
      flow.submit(
          on_owner_of(tile.solve_lower(a(k, k), b(k, c)).priority(2 * nt + 2 * (nt - k)), a, k, k, b));
    });
    for (std::int32_t i = k + 1; i < nt; ++i)
      for_each_column(bs, [&](const TiledMatrix<T>& b, std::int32_t c) {
        flow.submit(on_owner_of(
            tile.update_lower(a(i, k), b(k, c), b(i, c)).priority(2 * nt + 2 * nt - i - k), a, i, k, b));
      });
  }
}

template <class T>
void solve_backward(Flow& flow, const Kernels& kernels, Factors factors, const TiledMatrix<T>& a,
                    std::initializer_list<const TiledMatrix<T>*> bs) {
  const SolveKernels<T> tile(kernels, factors);
  for (std::int32_t k = a.tile_rows() - 1; k >= 0; --k) {
    for_each_column(bs, [&](const TiledMatrix<T>& b, std::int32_t c) {
      flow.submit(on_owner_of(tile.solve_upper(a(k, k), b(k, c)).priority(2 * k), a, k, k, b));
    });
    for (std::int32_t i = k - 1; i >= 0; --i) {
      const std::int32_t a_row = factors == Factors::lu ? i : k, a_column = factors == Factors::lu ? k : i;
      for_each_column(bs, [&](const TiledMatrix<T>& b, std::int32_t c) {
        flow.submit(on_owner_of(tile.update_upper(a(a_row, a_column), b(k, c), b(i, c)).priority(k + i), a,
                                a_row, a_column, b));
      });
    }
  }
}

template <class T>
void solve_factored(Flow& flow, const Kernels& kernels, Factors factors, const TiledMatrix<T>& a,
                    std::initializer_list<const TiledMatrix<T>*> bs) {
  for (const TiledMatrix<T>* b : bs) require_system(a, *b);
  solve_forward(flow, kernels, factors, a, bs);
  solve_backward(flow, kernels, factors, a, bs);
}

template <class T>
void solve_factored(Flow& flow, const Kernels& kernels, const TiledMatrix<T>& l, const TiledMatrix<T>& b) {
  solve_factored(flow, kernels, Factors::cholesky, l, {&b});
}

template <class T>
void solve_lu_factored(Flow& flow, const Kernels& kernels, const TiledMatrix<T>& lu,
                       const TiledMatrix<T>& b) {
  solve_factored(flow, kernels, Factors::lu, lu, {&b});
}

std::uint64_t solve_tasks(std::int64_t tiles, std::int64_t columns_of_tiles) noexcept {
  const auto nt = static_cast<std::uint64_t>(tiles);
  return nt * (nt + 1) * static_cast<std::uint64_t>(columns_of_tiles);
}

#define FAIRLEAD_INSTANTIATE_SOLVES(T)                                                                  \
  template void solve_forward<T>(Flow&, const Kernels&, Factors, const TiledMatrix<T>&,                 \
                                 std::initializer_list<const TiledMatrix<T>*>);                         \
  template void solve_backward<T>(Flow&, const Kernels&, Factors, const TiledMatrix<T>&,                \
                                  std::initializer_list<const TiledMatrix<T>*>);                        \
  template void solve_factored<T>(Flow&, const Kernels&, Factors, const TiledMatrix<T>&,                \
                                  std::initializer_list<const TiledMatrix<T>*>);                        \
  template void solve_factored<T>(Flow&, const Kernels&, const TiledMatrix<T>&, const TiledMatrix<T>&); \
  template void solve_lu_factored<T>(Flow&, const Kernels&, const TiledMatrix<T>&, const TiledMatrix<T>&);
FAIRLEAD_INSTANTIATE_SOLVES(float)
FAIRLEAD_INSTANTIATE_SOLVES(double)
FAIRLEAD_INSTANTIATE_SOLVES(std::complex<float>)
FAIRLEAD_INSTANTIATE_SOLVES(std::complex<double>)
#undef FAIRLEAD_INSTANTIATE_SOLVES

}  // namespace fairlead::linalg
