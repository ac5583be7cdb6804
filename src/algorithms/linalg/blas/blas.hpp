// BLAS and LAPACK as a value: a table of functions filled at run time from a shared library, so that which
// one it is can be decided by measuring (choose_kernels.hpp), and a program that does no linear algebra needs
// none.
//
// All matrices are column-major; `ld*` is the distance between columns in elements. Every call runs on the
// calling thread alone, and any number of threads may call at once.
#pragma once
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <type_traits>

#include "algorithms/linalg/blas/buffers.hpp"
#include "algorithms/linalg/blas/own_products.hpp"
#include "algorithms/linalg/blas/routines.hpp"

namespace fairlead::linalg {

enum class Transpose : char { no = 'N', yes = 'T' };
enum class Triangle : char { lower = 'L', upper = 'U' };
enum class Side : char { left = 'L', right = 'R' };  // of the product: where the special matrix stands
enum class Diagonal : char { general = 'N', unit = 'U' };
enum class Norm : char { largest_element = 'M', one = '1', infinity = 'I', frobenius = 'F' };

template <class T>
concept Real = std::same_as<T, float> || std::same_as<T, double>;

/// Which library to load. Empty = Fairlead's choice.
struct BlasLibrary {
  std::string blas = "libopenblas.so.0";  ///< a name for the loader, or a path
  std::string lapack;                     ///< empty: the same library if it has potrf, else liblapack.so.3
  bool own_products =
      false;  ///< gemm and syrk by OwnProducts, where they are large enough and it is possible
};

class Blas {
  template <class T>
  using Same = std::type_identity_t<T>;  // scalars follow the type of the matrices

 public:
  /// Loads the library and sets it to one thread. That setting is the library's own and so the whole
  /// process's: other users of the very same library file in this process get one thread as well. Throws
  /// SystemError naming the library, if it cannot be loaded, lacks a routine, or has 64-bit integers.
  static std::shared_ptr<const Blas> load(const BlasLibrary& library = {});

  // What was loaded.
  const std::string& path() const noexcept { return path_; }                ///< as the loader names the file
  const std::string& lapack_path() const noexcept { return lapack_path_; }  ///< often the same
  const std::string& version() const noexcept {
    return version_;
  }  ///< as the library describes itself, or empty
  const std::string& core_type() const noexcept {
    return core_type_;
  }  ///< of OpenBLAS: "SkylakeX", of BLIS: "zen3", ...; or empty
  /// The environment variable that tells the library its core type; empty if none does.
  const std::string& core_type_variable() const noexcept { return core_type_variable_; }
  /// What that variable takes, where the library has numbers for its core types: "skx:0,haswell:3".
  const std::string& core_type_numbers() const noexcept { return core_type_numbers_; }

  bool has_own_products() const noexcept { return own_ != nullptr; }

  /// Takes what so many threads need of the library when they call at once, where it is known to need
  /// something: see buffers.hpp, also for what is thrown.
  void take_buffers(std::size_t threads) const {
    buffers_->take(threads);
    if (own_) own_->take(threads);
  }

  /// C := alpha op(A) op(B) + beta C, where C is m x n and the inner dimension k.
  template <Real T>
  void gemm(Transpose op_a, Transpose op_b, int m, int n, int k, Same<T> alpha, const T* a, int lda,
            const T* b, int ldb, Same<T> beta, T* c, int ldc) const {
    if (own_ && OwnProducts::large_enough(m, n, k))
      return own_->multiply<T>(OwnProducts::Part::whole, op_a == Transpose::yes, op_b == Transpose::yes, m, n,
                               k, alpha, a, lda, b, ldb, beta, c, ldc);
    const char oa = letter(op_a), ob = letter(op_b);
    table<T>().gemm(&oa, &ob, &m, &n, &k, &alpha, a, &lda, b, &ldb, &beta, c, &ldc, 1, 1);
  }

  /// C := alpha A B + beta C (left) or alpha B A + beta C (right), where A is symmetric and only `triangle`
  /// of it is read; C is m x n.
  template <Real T>
  void symm(Side side, Triangle triangle, int m, int n, Same<T> alpha, const T* a, int lda, const T* b,
            int ldb, Same<T> beta, T* c, int ldc) const {
    const char s = letter(side), t = letter(triangle);
    table<T>().symm(&s, &t, &m, &n, &alpha, a, &lda, b, &ldb, &beta, c, &ldc, 1, 1);
  }

  /// C := alpha A A^T + beta C (no), or alpha A^T A + beta C (yes), where only `triangle` of the n x n matrix
  /// C is touched.
  template <Real T>
  void syrk(Triangle triangle, Transpose op, int n, int k, Same<T> alpha, const T* a, int lda, Same<T> beta,
            T* c, int ldc) const {
    if (own_ && OwnProducts::large_enough(n, n, k))
      return own_->multiply<T>(
          triangle == Triangle::lower ? OwnProducts::Part::lower : OwnProducts::Part::upper,
          op == Transpose::yes, op == Transpose::no, n, n, k, alpha, a, lda, a, lda, beta, c, ldc);
    const char t = letter(triangle), o = letter(op);
    table<T>().syrk(&t, &o, &n, &k, &alpha, a, &lda, &beta, c, &ldc, 1, 1);
  }

  /// B := alpha op(A)^-1 B (left) or alpha B op(A)^-1 (right), where A is triangular and B m x n.
  template <Real T>
  void trsm(Side side, Triangle triangle, Transpose op, Diagonal diagonal, int m, int n, Same<T> alpha,
            const T* a, int lda, T* b, int ldb) const {
    const char s = letter(side), t = letter(triangle), o = letter(op), d = letter(diagonal);
    table<T>().trsm(&s, &t, &o, &d, &m, &n, &alpha, a, &lda, b, &ldb, 1, 1, 1, 1);
  }

  /// B := alpha op(A) B (left) or alpha B op(A) (right), where A is triangular and B m x n.
  template <Real T>
  void trmm(Side side, Triangle triangle, Transpose op, Diagonal diagonal, int m, int n, Same<T> alpha,
            const T* a, int lda, T* b, int ldb) const {
    const char s = letter(side), t = letter(triangle), o = letter(op), d = letter(diagonal);
    table<T>().trmm(&s, &t, &o, &d, &m, &n, &alpha, a, &lda, b, &ldb, 1, 1, 1, 1);
  }

  /// y := alpha op(A) x + beta y, where A is m x n.
  template <Real T>
  void gemv(Transpose op, int m, int n, Same<T> alpha, const T* a, int lda, const T* x, int stride_x,
            Same<T> beta, T* y, int stride_y) const {
    const char o = letter(op);
    table<T>().gemv(&o, &m, &n, &alpha, a, &lda, x, &stride_x, &beta, y, &stride_y, 1);
  }

  /// x := op(A)^-1 x, where A is triangular.
  template <Real T>
  void trsv(Triangle triangle, Transpose op, Diagonal diagonal, int n, const T* a, int lda, T* x,
            int stride_x) const {
    const char t = letter(triangle), o = letter(op), d = letter(diagonal);
    table<T>().trsv(&t, &o, &d, &n, a, &lda, x, &stride_x, 1, 1, 1);
  }

  /// Cholesky: A = L L^T (lower) or U^T U (upper), in place; the other triangle is not touched. Returns 0, or
  /// the order, from 1, of the first leading minor that is not positive definite.
  /// Throws UsageError if the routine refuses an argument.
  template <Real T>
  [[nodiscard]] int potrf(Triangle triangle, int n, T* a, int lda) const {
    const char t = letter(triangle);
    std::int32_t info = 0;
    table<T>().potrf(&t, &n, a, &lda, &info, 1);
    if (info < 0) refuse("potrf", -info);
    return info;
  }

  /// Inverts a triangular matrix in place: turns the solves with a diagonal tile into products. Returns 0, or
  /// the place, from 1, of the first zero on the diagonal. Throws UsageError if the routine refuses an
  /// argument.
  template <Real T>
  [[nodiscard]] int trtri(Triangle triangle, Diagonal diagonal, int n, T* a, int lda) const {
    const char t = letter(triangle), d = letter(diagonal);
    std::int32_t info = 0;
    table<T>().trtri(&t, &d, &n, a, &lda, &info, 1, 1);
    if (info < 0) refuse("trtri", -info);
    return info;
  }

  /// LU with partial pivoting of an m x n matrix, in place: P A = L U. `pivots` gets min(m, n) numbers: row i
  /// was exchanged with row pivots[i], from 1. Returns 0, or the place, from 1, of the first pivot that is
  /// zero. Throws UsageError if the routine refuses an argument; SystemError, as the eight that follow, if the
  /// library has no such routine.
  template <Real T>
  [[nodiscard]] int getrf(int m, int n, T* a, int lda, std::int32_t* pivots) const {
    std::int32_t info = 0;
    there(table<T>().getrf, "getrf")(&m, &n, a, &lda, pivots, &info);
    if (info < 0) refuse("getrf", -info);
    return info;
  }

  /// Exchanges the rows of A, which has n columns, as getrf() did for the first `count` pivots; `undo`: the
  /// other way round.
  template <Real T>
  void laswp(int n, T* a, int lda, int count, const std::int32_t* pivots, bool undo = false) const {
    const std::int32_t first = 1, step = undo ? -1 : 1;
    there(table<T>().laswp, "laswp")(&n, a, &lda, &first, &count, pivots, &step);
  }

  /// QR factorization of an m x n matrix in place, in blocks of `ib` reflectors, at most min(m, n): R on and
  /// above the diagonal, the reflectors below it, their triangular factors in `t` of ib x min(m, n). `work`
  /// has ib n elements.
  template <Real T>
  void geqrt(int m, int n, int ib, T* a, int lda, T* t, int ldt, T* work) const {
    std::int32_t info = 0;
    there(table<T>().geqrt, "geqrt")(&m, &n, &ib, a, &lda, t, &ldt, work, &info);
    if (info < 0) refuse("geqrt", -info);
  }

  /// C := op(Q) C for the k reflectors that geqrt() left in v and t, where C is m x n. `work` has ib n
  /// elements.
  template <Real T>
  void gemqrt(Transpose op, int m, int n, int k, int ib, const T* v, int ldv, const T* t, int ldt, T* c,
              int ldc, T* work) const {
    const char s = letter(Side::left), o = letter(op);
    std::int32_t info = 0;
    there(table<T>().gemqrt, "gemqrt")(&s, &o, &m, &n, &k, &ib, v, &ldv, t, &ldt, c, &ldc, work, &info, 1, 1);
    if (info < 0) refuse("gemqrt", -info);
  }

  /// QR factorization in place of the triangle A of n x n on top of B of m x n, whose last l rows are the
  /// upper part of a trapezoid; what is below the diagonals is not touched. A becomes R, B the reflectors, t
  /// of ib x n their triangular factors; ib is at most n. `work` has ib n elements.
  template <Real T>
  void tpqrt(int m, int n, int l, int ib, T* a, int lda, T* b, int ldb, T* t, int ldt, T* work) const {
    std::int32_t info = 0;
    there(table<T>().tpqrt, "tpqrt")(&m, &n, &l, &ib, a, &lda, b, &ldb, t, &ldt, work, &info);
    if (info < 0) refuse("tpqrt", -info);
  }

  /// op(Q) applied to A of k x n on top of B of m x n, for the k reflectors that tpqrt() left in v and t.
  /// `work` has ib n elements.
  template <Real T>
  void tpmqrt(Transpose op, int m, int n, int k, int l, int ib, const T* v, int ldv, const T* t, int ldt,
              T* a, int lda, T* b, int ldb, T* work) const {
    const char s = letter(Side::left), o = letter(op);
    std::int32_t info = 0;
    there(table<T>().tpmqrt, "tpmqrt")(&s, &o, &m, &n, &k, &l, &ib, v, &ldv, t, &ldt, a, &lda, b, &ldb, work,
                                       &info, 1, 1);
    if (info < 0) refuse("tpmqrt", -info);
  }

  /// A = Q B P^T of n x n in place, with an upper bidiagonal B: its diagonal in `d`, n elements, what is next to that in
  /// `e`, n - 1; the reflectors of Q and P in A, `tau_q` and `tau_p` of n. `work` has `size` elements, at least 2 n.
  template <Real T>
  void gebrd(int n, T* a, int lda, T* d, T* e, T* tau_q, T* tau_p, T* work, int size) const {
    std::int32_t info = 0;
    there(table<T>().gebrd, "gebrd")(&n, &n, a, &lda, d, e, tau_q, tau_p, work, &size, &info);
    if (info < 0) refuse("gebrd", -info);
  }

  /// Which of the two that gebrd() leaves.
  enum class Reduced : char { q = 'Q', p = 'P' };
  /// C := op(Q) C or op(P) C, where C has n rows and so many columns. `a` is restored. `work` has `size` elements, at
  /// least as many as C has columns.
  template <Real T>
  void ormbr(Reduced which, Transpose op, int n, int columns, T* a, int lda, const T* tau, T* c, int ldc,
             T* work, int size) const {
    const char v = letter(which), s = letter(Side::left), o = letter(op);
    std::int32_t info = 0;
    there(table<T>().ormbr, "ormbr")(&v, &s, &o, &n, &columns, &n, a, &lda, tau, c, &ldc, work, &size, &info,
                                     1, 1, 1);
    if (info < 0) refuse("ormbr", -info);
  }

  /// B := the x of smallest norm for which || b - A x || is least, for each of its columns, where A is bidiagonal: the
  /// diagonal `d`, above or below it `e`. Singular values up to `tolerance` times the largest count as zero. `d` becomes
  /// the singular values, the largest first, and `e` is lost. The leaves of divide and conquer have up to lalsd_leaf rows.
  /// Returns the rank, or none if the singular values cannot be computed. `work` has lalsd_work() elements, `iwork` as
  /// many as lalsd_integers().
  template <Real T>
  [[nodiscard]] std::optional<int> lalsd(Triangle where, int n, int columns, T* d, T* e, T* b, int ldb,
                                         Same<T> tolerance, T* work, std::int32_t* iwork) const {
    const char t = letter(where);
    std::int32_t info = 0, rank = 0;
    there(table<T>().lalsd, "lalsd")(&t, &lalsd_leaf, &n, &columns, d, e, b, &ldb, &tolerance, &rank, work,
                                     iwork, &info, 1);
    if (info < 0) refuse("lalsd", -info);
    if (info > 0) return std::nullopt;
    return rank;
  }
  static constexpr std::int32_t lalsd_leaf = 25;
  static std::int64_t lalsd_levels(std::int64_t n) noexcept {
    std::int64_t levels = 0;
    for (std::int64_t rows = n; rows > lalsd_leaf; rows /= 2) ++levels;
    return levels + 1;  // one more than LAPACK asks for
  }
  static std::int64_t lalsd_work(std::int64_t n, std::int64_t columns) noexcept {
    return n * (9 + 2 * lalsd_leaf + 8 * lalsd_levels(n) + columns) + (lalsd_leaf + 1) * (lalsd_leaf + 1);
  }
  static std::int64_t lalsd_integers(std::int64_t n) noexcept { return n * (3 * lalsd_levels(n) + 11); }

  /// A norm of an m x n matrix. `work` has m elements for `Norm::infinity` and may be null otherwise.
  template <Real T>
  T lange(Norm norm, int m, int n, const T* a, int lda, T* work = nullptr) const {
    const char w = letter(norm);
    return table<T>().lange(&w, &m, &n, a, &lda, work, 1);
  }

  /// A norm of a symmetric matrix of which only `triangle` is read. `work` has n elements for `Norm::one` and
  /// `Norm::infinity`, and may be null otherwise.
  template <Real T>
  T lansy(Norm norm, Triangle triangle, int n, const T* a, int lda, T* work = nullptr) const {
    const char w = letter(norm), t = letter(triangle);
    return table<T>().lansy(&w, &t, &n, a, &lda, work, 1, 1);
  }

 private:
  Blas() = default;
  void ask_blis(const SharedLibrary& library);
  [[noreturn]] void refuse(const char* routine, int argument) const;
  [[noreturn]] void miss(const char* routine) const;
  template <class Function>
  Function* there(Function* function, const char* routine) const {
    if (function == nullptr) miss(routine);
    return function;
  }

  template <class Enum>
  static constexpr char letter(Enum value) noexcept {
    return static_cast<char>(value);
  }
  template <class T>
  const Routines<T>& table() const noexcept {
    if constexpr (std::is_same_v<T, double>) return double_;
    if constexpr (std::is_same_v<T, float>) return float_;
  }

  Routines<double> double_;
  Routines<float> float_;
  std::unique_ptr<Buffers> buffers_;
  std::unique_ptr<OwnProducts> own_;  // null: products are the library's
  std::string path_, lapack_path_, version_, core_type_, core_type_variable_, core_type_numbers_;
};

}  // namespace fairlead::linalg
