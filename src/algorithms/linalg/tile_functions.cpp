// See tile_functions.hpp. Arguments are those of BLAS and LAPACK, in their order.
#include "algorithms/linalg/tile_functions.hpp"

#include <fairlead/linalg.hpp>

#include <algorithm>
#include <array>
#include <cmath>

#include "algorithms/linalg/blas/blas.hpp"
#include "algorithms/linalg/blas/flops.hpp"
#include "algorithms/linalg/blas/panel_solve.hpp"
#include "algorithms/linalg/blas/unpivoted_lu.hpp"

namespace fairlead::linalg {

namespace {

using Arguments = fairlead::detail::TileArguments;
using fairlead::detail::TileFunction;
using fairlead::detail::TilePart;

char letter(Arguments a, std::size_t i) { return static_cast<char>(a[i].integer); }
int whole(Arguments a, std::size_t i) { return static_cast<int>(a[i].integer); }
double real(Arguments a, std::size_t i) { return static_cast<double>(a[i].integer); }
template <class T>
T scalar(Arguments a, std::size_t i) {
  return static_cast<T>(a[i].real);
}
template <class T>
T* tile(Arguments a, std::size_t i) {
  return static_cast<T*>(a[i].data);
}
int ld(Arguments a, std::size_t i) { return a[i].leading_dimension; }
Side side(Arguments a, std::size_t i) { return letter(a, i) == 'L' ? Side::left : Side::right; }
Triangle triangle(Arguments a, std::size_t i) {
  return letter(a, i) == 'L' ? Triangle::lower : Triangle::upper;
}
bool is_plain(Arguments a, std::size_t i) { return letter(a, i) == 'N'; }
Transpose transpose(Arguments a, std::size_t i) { return is_plain(a, i) ? Transpose::no : Transpose::yes; }
Diagonal diagonal(Arguments a, std::size_t i) {
  return letter(a, i) == 'U' ? Diagonal::unit : Diagonal::general;
}

std::size_t part(TilePart* parts, std::initializer_list<TilePart> all) {
  std::ranges::copy(all, parts);
  return all.size();
}

/// Calls f(i, j) for the elements of an m x n tile in `what`: L (lower), U (upper), A (all).
template <class T, class F>
void each_of(char what, int m, int n, const F& f) {
  for (int j = 0; j < n; ++j) {
    const int first = what == 'L' ? std::min(j, m) : 0, last = what == 'U' ? std::min(j + 1, m) : m;
    for (int i = first; i < last; ++i) f(i, j);
  }
}
template <class T>
T& at(Arguments a, std::size_t tile_number, int i, int j) {
  return tile<T>(a, tile_number)[i + static_cast<std::ptrdiff_t>(j) * ld(a, tile_number)];
}

// --- gemm: transA, transB, m, n, k, alpha, A, lda, B, ldb, beta, C, ldc
std::size_t gemm_parts(Arguments a, TilePart* parts) {
  const std::int64_t m = a[2].integer, n = a[3].integer, k = a[4].integer;
  return part(parts, {{6, is_plain(a, 0) ? m : k, is_plain(a, 0) ? k : m},
                      {8, is_plain(a, 1) ? k : n, is_plain(a, 1) ? n : k},
                      {11, m, n}});
}
double gemm_work(Arguments a) { return gemm_flops(real(a, 2), real(a, 3), real(a, 4)); }
template <class T>
int gemm(const Kernels& kernels, Arguments a) {
  kernels.blas().gemm<T>(transpose(a, 0), transpose(a, 1), whole(a, 2), whole(a, 3), whole(a, 4),
                         scalar<T>(a, 5), tile<T>(a, 6), ld(a, 6), tile<T>(a, 8), ld(a, 8), scalar<T>(a, 10),
                         tile<T>(a, 11), ld(a, 11));
  kernels.count(Kernel::gemm, gemm_work(a));
  return 0;
}

// --- syrk: uplo, trans, n, k, alpha, A, lda, beta, C, ldc
std::size_t syrk_parts(Arguments a, TilePart* parts) {
  const std::int64_t n = a[2].integer, k = a[3].integer;
  return part(parts, {{5, is_plain(a, 1) ? n : k, is_plain(a, 1) ? k : n}, {8, n, n}});
}
double syrk_work(Arguments a) { return syrk_flops(real(a, 2), real(a, 3)); }
template <class T>
int syrk(const Kernels& kernels, Arguments a) {
  kernels.blas().syrk<T>(triangle(a, 0), transpose(a, 1), whole(a, 2), whole(a, 3), scalar<T>(a, 4),
                         tile<T>(a, 5), ld(a, 5), scalar<T>(a, 7), tile<T>(a, 8), ld(a, 8));
  kernels.count(Kernel::syrk, syrk_work(a));
  return 0;
}

// --- symm: side, uplo, m, n, alpha, A, lda, B, ldb, beta, C, ldc
std::size_t symm_parts(Arguments a, TilePart* parts) {
  const std::int64_t m = a[2].integer, n = a[3].integer, order = side(a, 0) == Side::left ? m : n;
  return part(parts, {{5, order, order}, {7, m, n}, {10, m, n}});
}
double symm_work(Arguments a) {
  return gemm_flops(real(a, 2), real(a, 3), side(a, 0) == Side::left ? real(a, 2) : real(a, 3));
}
template <class T>
int symm(const Kernels& kernels, Arguments a) {
  kernels.blas().symm<T>(side(a, 0), triangle(a, 1), whole(a, 2), whole(a, 3), scalar<T>(a, 4), tile<T>(a, 5),
                         ld(a, 5), tile<T>(a, 7), ld(a, 7), scalar<T>(a, 9), tile<T>(a, 10), ld(a, 10));
  kernels.count(Kernel::gemm, symm_work(a));
  return 0;
}

// --- trsm, trmm: side, uplo, trans, diag, m, n, alpha, A, lda, B, ldb
std::size_t triangular_parts(Arguments a, TilePart* parts) {
  const std::int64_t m = a[4].integer, n = a[5].integer, order = side(a, 0) == Side::left ? m : n;
  return part(parts, {{7, order, order}, {9, m, n}});
}
double triangular_work(Arguments a) {
  return side(a, 0) == Side::left ? trsm_flops(real(a, 5), real(a, 4)) : trsm_flops(real(a, 4), real(a, 5));
}
template <class T>
int trsm(const Kernels& kernels, Arguments a) {
  const TriangularSolve solve{side(a, 0), triangle(a, 1), transpose(a, 2), diagonal(a, 3)};
  const int m = whole(a, 4), n = whole(a, 5);
  if (goes_forward(solve) && scalar<T>(a, 6) == 1)  // as the factorizations of flows do
    panel_solve<T>(kernels.blas(), solve, m, n, tile<T>(a, 7), ld(a, 7), tile<T>(a, 9), ld(a, 9));
  else
    kernels.blas().trsm<T>(solve.side, solve.triangle, solve.op, solve.diagonal, m, n, scalar<T>(a, 6),
                           tile<T>(a, 7), ld(a, 7), tile<T>(a, 9), ld(a, 9));
  kernels.count(Kernel::trsm, triangular_work(a));
  return 0;
}
template <class T>
int trmm(const Kernels& kernels, Arguments a) {
  kernels.blas().trmm<T>(side(a, 0), triangle(a, 1), transpose(a, 2), diagonal(a, 3), whole(a, 4),
                         whole(a, 5), scalar<T>(a, 6), tile<T>(a, 7), ld(a, 7), tile<T>(a, 9), ld(a, 9));
  kernels.count(Kernel::trsm, triangular_work(a));
  return 0;
}

// --- potrf: uplo, n, A, lda
std::size_t potrf_parts(Arguments a, TilePart* parts) {
  return part(parts, {{2, a[1].integer, a[1].integer}});
}
double potrf_work(Arguments a) { return potrf_flops(real(a, 1)); }
template <class T>
int potrf(const Kernels& kernels, Arguments a) {
  const int info = kernels.blas().potrf<T>(triangle(a, 0), whole(a, 1), tile<T>(a, 2), ld(a, 2));
  if (info == 0) kernels.count(Kernel::potrf, potrf_work(a));
  return info;
}

// --- trtri: uplo, diag, n, A, lda
std::size_t trtri_parts(Arguments a, TilePart* parts) {
  return part(parts, {{3, a[2].integer, a[2].integer}});
}
double trtri_work(Arguments a) { return real(a, 2) * real(a, 2) * real(a, 2) / 3; }
template <class T>
int trtri(const Kernels& kernels, Arguments a) {
  return kernels.blas().trtri<T>(triangle(a, 0), diagonal(a, 1), whole(a, 2), tile<T>(a, 3), ld(a, 3));
}

// --- getrf_without_pivots: m, n, A, lda
std::size_t getrf_parts(Arguments a, TilePart* parts) {
  return part(parts, {{2, a[0].integer, a[1].integer}});
}
double getrf_work(Arguments a) {
  const double m = real(a, 0), n = real(a, 1), k = std::min(m, n);
  return getrf_flops(k) + trsm_flops(std::max(m, n) - k, k);
}
template <class T>
int getrf(const Kernels& kernels, Arguments a) {
  const int m = whole(a, 0), n = whole(a, 1), k = std::min(m, n);
  T* const it = tile<T>(a, 2);
  const int info = unpivoted_lu<T>(kernels.blas(), m, k, it, ld(a, 2));
  if (info != 0) return info;
  if (n > k)  // more columns than rows: the others belong to U
    kernels.blas().trsm<T>(Side::left, Triangle::lower, Transpose::no, Diagonal::unit, k, n - k, 1, it,
                           ld(a, 2), it + static_cast<std::ptrdiff_t>(k) * ld(a, 2), ld(a, 2));
  kernels.count(Kernel::getrf, getrf_work(a));
  return 0;
}

double no_work(Arguments) { return 0; }

// --- lacpy: what, m, n, A, lda, B, ldb
std::size_t lacpy_parts(Arguments a, TilePart* parts) {
  return part(parts, {{3, a[1].integer, a[2].integer}, {5, a[1].integer, a[2].integer}});
}
template <class T>
int lacpy(const Kernels&, Arguments a) {
  each_of<T>(letter(a, 0), whole(a, 1), whole(a, 2),
             [&](int i, int j) { at<T>(a, 5, i, j) = at<T>(a, 3, i, j); });
  return 0;
}

// --- laset: what, m, n, alpha, beta, A, lda
std::size_t laset_parts(Arguments a, TilePart* parts) {
  return part(parts, {{5, a[1].integer, a[2].integer}});
}
template <class T>
int laset(const Kernels&, Arguments a) {
  const T off_diagonal = scalar<T>(a, 3), diagonal = scalar<T>(a, 4);
  each_of<T>(letter(a, 0), whole(a, 1), whole(a, 2),
             [&](int i, int j) { at<T>(a, 5, i, j) = i == j ? diagonal : off_diagonal; });
  return 0;
}

// --- geadd: m, n, alpha, A, lda, beta, B, ldb
std::size_t geadd_parts(Arguments a, TilePart* parts) {
  return part(parts, {{3, a[0].integer, a[1].integer}, {6, a[0].integer, a[1].integer}});
}
double geadd_work(Arguments a) { return 3 * real(a, 0) * real(a, 1); }
template <class T>
int geadd(const Kernels&, Arguments a) {
  const T alpha = scalar<T>(a, 2), beta = scalar<T>(a, 5);
  each_of<T>('A', whole(a, 0), whole(a, 1), [&](int i, int j) {
    T& b = at<T>(a, 6, i, j);
    b = beta == 0 ? alpha * at<T>(a, 3, i, j) : alpha * at<T>(a, 3, i, j) + beta * b;
  });
  return 0;
}

// --- scale: m, n, alpha, A, lda
std::size_t scale_parts(Arguments a, TilePart* parts) {
  return part(parts, {{3, a[0].integer, a[1].integer}});
}
double scale_work(Arguments a) { return real(a, 0) * real(a, 1); }
template <class T>
int scale(const Kernels&, Arguments a) {
  const T alpha = scalar<T>(a, 2);
  each_of<T>('A', whole(a, 0), whole(a, 1), [&](int i, int j) { at<T>(a, 3, i, j) *= alpha; });
  return 0;
}

constexpr std::string_view no_minor = "the leading minor of that order is not positive definite";
constexpr std::string_view no_pivot = "the pivot in that column, counted from 1, is zero or not finite";
constexpr std::string_view on_diagonal =
    "the element of that number on the diagonal, counted from 1, is zero";

constexpr std::array table{
    TileFunction{"potrf", "potrf", "uiwl", "uplo, n, A, lda", no_minor, potrf_parts, potrf_work, potrf<float>,
                 potrf<double>},
    TileFunction{"trsm", "trsm", "sutdiixrlwl", "side, uplo, trans, diag, m, n, alpha, A, lda, B, ldb", "",
                 triangular_parts, triangular_work, trsm<float>, trsm<double>},
    TileFunction{"trmm", "trmm", "sutdiixrlwl", "side, uplo, trans, diag, m, n, alpha, A, lda, B, ldb", "",
                 triangular_parts, triangular_work, trmm<float>, trmm<double>},
    TileFunction{"syrk", "syrk", "utiixrlxwl", "uplo, trans, n, k, alpha, A, lda, beta, C, ldc", "",
                 syrk_parts, syrk_work, syrk<float>, syrk<double>},
    TileFunction{"symm", "symm", "suiixrlrlxwl", "side, uplo, m, n, alpha, A, lda, B, ldb, beta, C, ldc", "",
                 symm_parts, symm_work, symm<float>, symm<double>},
    TileFunction{"gemm", "gemm", "ttiiixrlrlxwl",
                 "transA, transB, m, n, k, alpha, A, lda, B, ldb, beta, C, ldc", "", gemm_parts, gemm_work,
                 gemm<float>, gemm<double>},
    TileFunction{"getrf_without_pivots", "getrf", "iiwl", "m, n, A, lda", no_pivot, getrf_parts, getrf_work,
                 getrf<float>, getrf<double>},
    TileFunction{"getrf_nopiv", "getrf", "iiwl", "m, n, A, lda", no_pivot, getrf_parts, getrf_work,
                 getrf<float>, getrf<double>},
    TileFunction{"trtri", "trtri", "udiwl", "uplo, diag, n, A, lda", on_diagonal, trtri_parts, trtri_work,
                 trtri<float>, trtri<double>},
    TileFunction{"lacpy", "lacpy", "Uiirlwl", "what, m, n, A, lda, B, ldb", "", lacpy_parts, no_work,
                 lacpy<float>, lacpy<double>},
    TileFunction{"laset", "laset", "Uiixxwl", "what, m, n, alpha, beta, A, lda", "", laset_parts, no_work,
                 laset<float>, laset<double>},
    TileFunction{"geadd", "geadd", "iixrlxwl", "m, n, alpha, A, lda, beta, B, ldb", "", geadd_parts,
                 geadd_work, geadd<float>, geadd<double>},
    TileFunction{"scale", "scale", "iixwl", "m, n, alpha, A, lda", "", scale_parts, scale_work, scale<float>,
                 scale<double>}};

}  // namespace

std::span<const TileFunction> tile_functions() noexcept { return table; }

}  // namespace fairlead::linalg
