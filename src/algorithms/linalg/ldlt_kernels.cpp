// The bodies of tasks on single tiles of a symmetric indefinite factorization.
#include "algorithms/linalg/ldlt_kernels.hpp"

#include <algorithm>
#include <complex>
#include <cstdint>

#include "algorithms/linalg/blas/blas.hpp"
#include "algorithms/linalg/blas/flops.hpp"
#include "algorithms/linalg/body_name.hpp"
#include "algorithms/linalg/larger.hpp"
#include "algorithms/linalg/mirror_image.hpp"

namespace fairlead::linalg {

namespace {

/// The upper triangle of a tile that has at most as many rows as columns, with zeros below, to contiguous memory.
template <class T, class View>
void copy_upper(const View& tile, T* to) {
  for (std::int32_t j = 0; j < tile.columns(); ++j, to += tile.rows())
    for (std::int32_t i = 0; i < tile.rows(); ++i) to[i] = i <= j ? tile(i, j) : T{0};
}
/// The same, transposed.
template <class T, class View>
void copy_transposed_upper(const View& tile, Symmetry symmetry, T* to) {
  for (std::int32_t i = 0; i < tile.rows(); ++i, to += tile.columns())
    for (std::int32_t j = 0; j < tile.columns(); ++j)
      to[j] = i <= j ? mirror_image<T>(tile(i, j), symmetry) : T{0};
}

/// H := H + W, where W is contiguous and may have fewer rows and columns.
template <class T>
void add(const T* w, std::int32_t rows, std::int32_t columns, const InOut<Tile<T>>& h) {
  for (std::int32_t j = 0; j < columns; ++j, w += rows) {
    T* const to = h.data() + static_cast<std::ptrdiff_t>(j) * h.leading_dimension();
    for (std::int32_t i = 0; i < rows; ++i) to[i] += w[i];
  }
}

/// H := H + op(U) L^T for a square upper triangle U.
template <class T>
void add_triangle_product(const Kernels& kernels, Transpose op, Symmetry symmetry, const In<Tile<T>>& u,
                          const In<Tile<T>>& l, const InOut<Tile<T>>& h, T* work) {
  const int n = u.rows(), columns = l.rows();
  for (std::int32_t i = 0; i < n; ++i)
    for (std::int32_t j = 0; j < columns; ++j)
      work[i + static_cast<std::ptrdiff_t>(j) * n] = mirror_image<T>(l(j, i), symmetry);
  kernels.blas().trmm<T>(Side::left, Triangle::upper, op, Diagonal::general, n, columns, 1, u.data(),
                         u.leading_dimension(), work, n);
  add(work, n, columns, h);
  kernels.count(Kernel::trsm, real_flops<T> * trsm_flops(columns, n));
}

template <class T>
void mirror_lower(const InOut<Tile<T>>& a, Symmetry symmetry) {
  for (std::int32_t j = 0; j < a.columns(); ++j) {
    for (std::int32_t i = 0; i < j; ++i) a(i, j) = mirror_image<T>(a(j, i), symmetry);
    if (is_complex_number<T> && symmetry == Symmetry::hermitian) a(j, j) = real_part(a(j, j));
  }
}

/// A := L^-1 A L^-T for the unit lower triangle L; A is symmetric, with its lower triangle stored.
template <class T>
void divide_by_both(const Kernels& kernels, Symmetry symmetry, const In<Tile<T>>& l,
                    const InOut<Tile<T>>& a) {
  const int n = a.rows();
  mirror_lower<T>(a, symmetry);
  kernels.blas().trsm<T>(Side::left, Triangle::lower, Transpose::no, Diagonal::unit, n, n, 1, l.data(),
                         l.leading_dimension(), a.data(), a.leading_dimension());
  kernels.blas().trsm<T>(Side::right, Triangle::lower, mirroring<T>(symmetry), Diagonal::unit, n, n, 1,
                         l.data(), l.leading_dimension(), a.data(), a.leading_dimension());
  mirror_lower<T>(a, symmetry);
  kernels.count(Kernel::trsm, real_flops<T> * 2 * trsm_flops(n, n));
}

template <class View>
double size_of_upper(const View& tile, bool whole) {
  double size = 0;
  for (std::int32_t j = 0; j < tile.columns(); ++j)
    for (std::int32_t i = 0; i < (whole ? tile.rows() : std::min(j + 1, tile.rows())); ++i)
      size = larger(size, magnitude(tile(i, j)));
  return size;
}

}  // namespace

template <class T>
LdltKernels<T>::LdltKernels(const Kernels& kernels, Symmetry symmetry)
    : set_product(
          codelet("product")
              .cpu(body_of_type<T>,
                   [kernels, symmetry](In<Tile> t, In<Tile> l, Out<Tile> h) {
                     kernels.blas().gemm<T>(Transpose::no, mirroring<T>(symmetry), t.rows(), l.rows(),
                                            t.columns(), 1, t.data(), t.leading_dimension(), l.data(),
                                            l.leading_dimension(), 0, h.data(), h.leading_dimension());
                     kernels.count(Kernel::gemm, real_flops<T> * gemm_flops(t.rows(), l.rows(), t.columns()));
                   })
              .emulated()),
      set_own_product(codelet("product")
                          .cpu(body_of_type<T>,
                               [kernels, symmetry](In<Tile> t, In<Tile> l, Out<Tile> h) {
                                 const int n = t.rows();
                                 for (std::int32_t j = 0; j < n; ++j)
                                   std::copy_n(
                                       t.data() + static_cast<std::ptrdiff_t>(j) * t.leading_dimension(), n,
                                       h.data() + static_cast<std::ptrdiff_t>(j) * h.leading_dimension());
                                 kernels.blas().trmm<T>(
                                     Side::right, Triangle::lower, mirroring<T>(symmetry), Diagonal::unit, n,
                                     n, 1, l.data(), l.leading_dimension(), h.data(), h.leading_dimension());
                                 kernels.count(Kernel::trsm, real_flops<T> * trsm_flops(n, n));
                               })
                          .emulated()),
      add_product(codelet("add_product")
                      .cpu(body_of_type<T>,
                           [kernels, symmetry](In<Tile> u, In<Tile> l, InOut<Tile> h, Scratch<T> work) {
                             add_triangle_product<T>(kernels, Transpose::no, symmetry, u, l, h, work.data());
                           })
                      .emulated()),
      add_transposed_product(
          codelet("add_product")
              .cpu(body_of_type<T>,
                   [kernels, symmetry](In<Tile> u, In<Tile> l, InOut<Tile> h, Scratch<T> work) {
                     add_triangle_product<T>(kernels, mirroring<T>(symmetry), symmetry, u, l, h, work.data());
                   })
              .emulated()),
      add_own_transposed_product(
          codelet("add_product")
              .cpu(body_of_type<T>,
                   [kernels, symmetry](In<Tile> both, InOut<Tile> h, Scratch<T> work) {
                     const int rows = both.columns(), columns = both.rows();
                     copy_transposed_upper(both, symmetry, work.data());
                     kernels.blas().trmm<T>(Side::right, Triangle::lower, mirroring<T>(symmetry),
                                            Diagonal::unit, rows, columns, 1, both.data(),
                                            both.leading_dimension(), work.data(), rows);
                     add(work.data(), rows, columns, h);
                     kernels.count(Kernel::trsm, real_flops<T> * trsm_flops(rows, columns));
                   })
              .emulated()),
      mirror(codelet("mirror")
                 .cpu(body_of_type<T>, [symmetry](InOut<Tile> a) { mirror_lower<T>(a, symmetry); })
                 .emulated()),
      set_diagonal(codelet("sygst")
                       .cpu(body_of_type<T>,
                            [kernels, symmetry](In<Tile> l, InOut<Tile> a) {
                              divide_by_both<T>(kernels, symmetry, l, a);
                            })
                       .emulated()),
      update_and_set_diagonal(
          codelet("sygst")
              .cpu(body_of_type<T>,
                   [kernels, symmetry](In<Tile> both, In<Tile> l, InOut<Tile> a, Scratch<T> work) {
                     const int n = both.rows(), inner = both.columns();
                     copy_upper(both, work.data());
                     kernels.blas().trmm<T>(Side::left, Triangle::lower, Transpose::no, Diagonal::unit, n,
                                            inner, 1, both.data(), both.leading_dimension(), work.data(), n);
                     kernels.blas().gemm<T>(Transpose::no, mirroring<T>(symmetry), n, n, inner, -1,
                                            work.data(), n, l.data(), l.leading_dimension(), 1, a.data(),
                                            a.leading_dimension());
                     kernels.count(Kernel::gemm, real_flops<T> * gemm_flops(n, n, inner));
                     divide_by_both<T>(kernels, symmetry, both, a);
                   })
              .emulated()),
      set_below(codelet("trsm")
                    .cpu(body_of_type<T>,
                         [kernels, symmetry](In<Tile> l, InOut<Tile> a, Scratch<T> work) {
                           const int rows = a.rows(), columns = a.columns();
                           copy_upper(a, work.data());
                           kernels.blas().trsm<T>(Side::right, Triangle::lower, mirroring<T>(symmetry),
                                                  Diagonal::unit, rows, columns, 1, l.data(),
                                                  l.leading_dimension(), work.data(), rows);
                           const T* from = work.data();
                           for (std::int32_t j = 0; j < columns; ++j, from += rows)
                             std::copy_n(from, std::min(j + 1, rows),
                                         a.data() + static_cast<std::ptrdiff_t>(j) * a.leading_dimension());
                           kernels.count(Kernel::trsm, real_flops<T> * trsm_flops(rows, columns));
                         })
                    .emulated()) {}

template <class T>
BandCopyKernels<T>::BandCopyKernels(const std::shared_ptr<std::vector<double>>& sizes, Symmetry symmetry)
    : diagonal(codelet("copy")
                   .cpu(body_of_type<T>,
                        [sizes](In<Tile> a, Out<Tile> c, std::size_t place) {
                          for (std::int32_t j = 0; j < a.columns(); ++j)
                            for (std::int32_t i = 0; i < a.rows(); ++i) c(i, j) = a(i, j);
                          (*sizes)[place] = size_of_upper(a, false);
                        })
                   .emulated()),
      below(codelet("copy")
                .cpu(body_of_type<T>,
                     [sizes](In<Tile> a, Out<Tile> c, std::size_t place) {
                       for (std::int32_t j = 0; j < a.columns(); ++j)
                         for (std::int32_t i = 0; i < a.rows(); ++i) c(i, j) = i <= j ? a(i, j) : T{0};
                       (*sizes)[place] = size_of_upper(a, false);
                     })
                .emulated()),
      right(codelet("copy")
                .cpu(body_of_type<T>,
                     [symmetry](In<Tile> a, Out<Tile> c) {
                       for (std::int32_t i = 0; i < a.rows(); ++i)
                         for (std::int32_t j = 0; j < a.columns(); ++j)
                           c(j, i) = i <= j ? mirror_image<T>(a(i, j), symmetry) : T{0};
                     })
                .emulated()),
      zero(codelet("zero")
               .cpu(body_of_type<T>,
                    [](Out<Tile> c) {
                      for (std::int32_t j = 0; j < c.columns(); ++j)
                        for (std::int32_t i = 0; i < c.rows(); ++i) c(i, j) = 0;
                    })
               .emulated()),
      size_of_row(codelet("sizes")
                      .cpu(body_of_type<T>,
                           [sizes](Many<In<Tile>> row, std::size_t place) {
                             double size = size_of_upper(row.front(), false);
                             for (std::size_t i = 1; i < row.size(); ++i)
                               size = larger(size, size_of_upper(row[i], true));
                             (*sizes)[place] = size;
                           })
                      .emulated()) {}

#define FAIRLEAD_LDLT_KERNELS_OF(T) \
  template struct LdltKernels<T>;   \
  template struct BandCopyKernels<T>;
FAIRLEAD_LDLT_KERNELS_OF(float)
FAIRLEAD_LDLT_KERNELS_OF(double)
FAIRLEAD_LDLT_KERNELS_OF(std::complex<float>)
FAIRLEAD_LDLT_KERNELS_OF(std::complex<double>)
#undef FAIRLEAD_LDLT_KERNELS_OF

}  // namespace fairlead::linalg
