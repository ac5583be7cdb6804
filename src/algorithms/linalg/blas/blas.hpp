// BLAS and LAPACK as an object: a table of functions loaded from a shared library at run time. The library can thus be
// selected by measurement (choose_kernels.hpp), and programs without linear algebra do not depend on one.
//
// All matrices are column-major; `ld*` is the distance between columns in elements. Every call runs entirely on the
// calling thread, unless threads() are set to several. All calls are thread-safe.
#pragma once
#include <algorithm>
#include <complex>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <type_traits>

#include "algorithms/linalg/blas/buffers.hpp"
#include "algorithms/linalg/blas/library_threads.hpp"
#include "algorithms/linalg/blas/own_products.hpp"
#include "algorithms/linalg/blas/routines.hpp"

namespace fairlead::linalg {

/// conjugate: the transposed matrix with conjugate elements, of complex matrices only.
enum class Transpose : char { no = 'N', yes = 'T', conjugate = 'C' };
enum class Triangle : char { lower = 'L', upper = 'U' };
enum class Side : char { left = 'L', right = 'R' };  // the side of the special matrix in the product
enum class Diagonal : char { general = 'N', unit = 'U' };

template <class T>
concept Real = std::same_as<T, float> || std::same_as<T, double>;
template <class T>
concept Scalar = Real<RealOf<T>>;

/// The operation A^H: what A^T is for real matrices in factorizations, solves and norms.
template <Scalar T>
inline constexpr Transpose adjoint = is_complex_number<T> ? Transpose::conjugate : Transpose::yes;

/// The libraries to load. Empty: the OpenBLAS of the Python environment that this library is installed in
/// (scipy-openblas32), or libopenblas.so.0, or the first that find_blas_libraries() finds.
struct BlasLibrary {
  std::string blas{};    ///< a name for the loader, or a path
  std::string lapack{};  ///< empty: the same library if it has potrf, else liblapack.so.3
  /// gemm and syrk by OwnProducts, if the matrices are large enough and the processor supports it
  bool own_products = false;
};

class Blas {
  template <class T>
  using NonDeduced = std::type_identity_t<T>;  // deduces T from the matrices only; scalars convert to it

 public:
  /// Loads the library and sets it to one thread. The setting applies to the whole process: other users of the same
  /// library file also get one thread. Throws SystemError naming the library if it cannot be loaded, lacks a routine,
  /// or has 64-bit integers.
  static std::shared_ptr<const Blas> load(const BlasLibrary& library = {});

  // The loaded libraries.
  const std::string& path() const noexcept { return path_; }  ///< the file, as named by the loader
  const std::string& lapack_path() const noexcept { return lapack_path_; }  ///< often the same file
  const std::string& version() const noexcept { return version_; }  ///< the library's own text, or empty
  /// OpenBLAS: "SkylakeX", BLIS: "zen3", ...; or empty.
  const std::string& core_type() const noexcept { return core_type_; }
  /// The environment variable that sets the core type of the library; empty if there is none.
  const std::string& core_type_variable() const noexcept { return core_type_variable_; }
  /// The numbers that the variable takes, if the core types of the library have numbers: "skx:0,haswell:3".
  const std::string& core_type_numbers() const noexcept { return core_type_numbers_; }

  const LibraryThreads& threads() const noexcept { return threads_; }
  bool has_own_products() const noexcept { return own_ != nullptr; }

  /// Reserves the buffers that the library needs for `threads` concurrent calls, if it is known to need any. Throws as
  /// Buffers::reserve().
  void reserve_buffers(std::size_t threads) const {
    buffers_->reserve(threads);
    if (own_) own_->reserve(threads);
  }

  /// C := alpha op(A) op(B) + beta C, where C is m x n and the inner dimension is k.
  template <Scalar T>
  void gemm(Transpose op_a, Transpose op_b, int m, int n, int k, NonDeduced<T> alpha, const T* a, int lda,
            const T* b, int ldb, NonDeduced<T> beta, T* c, int ldc) const {
    if constexpr (Real<T>)
      if (own_ && OwnProducts::applies_to(m, n, k))
        return own_->multiply<T>(OwnProducts::Part::whole, op_a == Transpose::yes, op_b == Transpose::yes, m,
                                 n, k, alpha, a, lda, b, ldb, beta, c, ldc);
    const char oa = letter(op_a), ob = letter(op_b);
    require_routine(table<T>().gemm, "gemm")(&oa, &ob, &m, &n, &k, &alpha, a, &lda, b, &ldb, &beta, c, &ldc,
                                             1, 1);
  }

  /// C := alpha A B + beta C (left) or alpha B A + beta C (right), where A is symmetric and only its `triangle` is
  /// read; C is m x n.
  template <Real T>
  void symm(Side side, Triangle triangle, int m, int n, NonDeduced<T> alpha, const T* a, int lda, const T* b,
            int ldb, NonDeduced<T> beta, T* c, int ldc) const {
    const char s = letter(side), t = letter(triangle);
    table<T>().symm(&s, &t, &m, &n, &alpha, a, &lda, b, &ldb, &beta, c, &ldc, 1, 1);
  }

  /// C := alpha A A^H + beta C (no), or alpha A^H A + beta C (adjoint). Reads and writes only `triangle` of the n x n
  /// matrix C. The routine is xSYRK, or xHERK for complex matrices: the imaginary parts of the diagonal of C count as
  /// zero, and become zero.
  template <Scalar T>
  void syrk(Triangle triangle, Transpose op, int n, int k, RealOf<T> alpha, const T* a, int lda,
            RealOf<T> beta, T* c, int ldc) const {
    if constexpr (Real<T>)
      if (own_ && OwnProducts::applies_to(n, n, k))
        return own_->multiply<T>(
            triangle == Triangle::lower ? OwnProducts::Part::lower : OwnProducts::Part::upper,
            op == Transpose::yes, op == Transpose::no, n, n, k, alpha, a, lda, a, lda, beta, c, ldc);
    const char t = letter(triangle), o = letter(op);
    require_routine(table<T>().syrk, "syrk")(&t, &o, &n, &k, &alpha, a, &lda, &beta, c, &ldc, 1, 1);
  }

  /// B := alpha op(A)^-1 B (left) or alpha B op(A)^-1 (right), where A is triangular and B is m x n.
  template <Scalar T>
  void trsm(Side side, Triangle triangle, Transpose op, Diagonal diagonal, int m, int n, NonDeduced<T> alpha,
            const T* a, int lda, T* b, int ldb) const {
    const char s = letter(side), t = letter(triangle), o = letter(op), d = letter(diagonal);
    require_routine(table<T>().trsm, "trsm")(&s, &t, &o, &d, &m, &n, &alpha, a, &lda, b, &ldb, 1, 1, 1, 1);
  }

  /// B := alpha op(A) B (left) or alpha B op(A) (right), where A is triangular and B is m x n.
  template <Scalar T>
  void trmm(Side side, Triangle triangle, Transpose op, Diagonal diagonal, int m, int n, NonDeduced<T> alpha,
            const T* a, int lda, T* b, int ldb) const {
    const char s = letter(side), t = letter(triangle), o = letter(op), d = letter(diagonal);
    require_routine(table<T>().trmm, "trmm")(&s, &t, &o, &d, &m, &n, &alpha, a, &lda, b, &ldb, 1, 1, 1, 1);
  }

  /// y := alpha op(A) x + beta y, where A is m x n.
  template <Scalar T>
  void gemv(Transpose op, int m, int n, NonDeduced<T> alpha, const T* a, int lda, const T* x, int stride_x,
            NonDeduced<T> beta, T* y, int stride_y) const {
    const char o = letter(op);
    require_routine(table<T>().gemv, "gemv")(&o, &m, &n, &alpha, a, &lda, x, &stride_x, &beta, y, &stride_y,
                                             1);
  }

  /// x := op(A)^-1 x, where A is triangular.
  template <Scalar T>
  void trsv(Triangle triangle, Transpose op, Diagonal diagonal, int n, const T* a, int lda, T* x,
            int stride_x) const {
    const char t = letter(triangle), o = letter(op), d = letter(diagonal);
    require_routine(table<T>().trsv, "trsv")(&t, &o, &d, &n, a, &lda, x, &stride_x, 1, 1, 1);
  }

  /// Cholesky factorization in place: A = L L^H (lower) or U^H U (upper); the other triangle is not accessed. Returns
  /// 0, or the order, from 1, of the first leading minor that is not positive definite. Throws UsageError if the
  /// routine rejects an argument.
  template <Scalar T>
  [[nodiscard]] int potrf(Triangle triangle, int n, T* a, int lda) const {
    const char t = letter(triangle);
    std::int32_t info = 0;
    require_routine(table<T>().potrf, "potrf")(&t, &n, a, &lda, &info, 1);
    if (info < 0) throw_bad_argument("potrf", -info);
    return info;
  }

  /// Inverts a triangular matrix in place, so that solves with a diagonal tile become products. Returns 0, or the
  /// index, from 1, of the first zero on the diagonal. Throws UsageError if the routine rejects an argument.
  template <Real T>
  [[nodiscard]] int trtri(Triangle triangle, Diagonal diagonal, int n, T* a, int lda) const {
    const char t = letter(triangle), d = letter(diagonal);
    std::int32_t info = 0;
    table<T>().trtri(&t, &d, &n, a, &lda, &info, 1, 1);
    if (info < 0) throw_bad_argument("trtri", -info);
    return info;
  }

  /// LU factorization with partial pivoting of an m x n matrix in place: P A = L U. `pivots` gets min(m, n) numbers:
  /// row i was exchanged with row pivots[i], from 1. Returns 0, or the index, from 1, of the first zero pivot. Throws
  /// UsageError if the routine rejects an argument. This routine and those below, and all of complex numbers, throw
  /// SystemError if the library lacks them.
  template <Scalar T>
  [[nodiscard]] int getrf(int m, int n, T* a, int lda, std::int32_t* pivots) const {
    std::int32_t info = 0;
    require_routine(table<T>().getrf, "getrf")(&m, &n, a, &lda, pivots, &info);
    if (info < 0) throw_bad_argument("getrf", -info);
    return info;
  }

  /// B := A^-1 B for a symmetric, or Hermitian, indefinite matrix and `columns` columns of B, or none. `factor`: A becomes
  /// its factors first, by Bunch and Kaufman's pivoting; otherwise it has them. The other triangle is not accessed.
  /// `pivots` has n numbers, negative ones for blocks of two rows of D, whose elements are on the diagonal and next to
  /// it. Returns 0, or the index, from 1, of the first zero block; nothing if the library lacks the routines.
  template <Scalar T>
  [[nodiscard]] std::optional<int> sysv(Triangle triangle, bool factor, int n, int columns, T* a, int lda,
                                        std::int32_t* pivots, T* b, int ldb) const {
    if (table<T>().sytrf == nullptr || table<T>().sytrs == nullptr) return std::nullopt;
    const char t = letter(triangle);
    std::int32_t info = 0;
    if (factor) {
      constexpr int block = 64;  // as many columns at a time as LAPACK has by default
      const int elements = std::max(1, n * block);
      const auto work = std::make_unique_for_overwrite<T[]>(static_cast<std::size_t>(elements));
      table<T>().sytrf(&t, &n, a, &lda, pivots, work.get(), &elements, &info, 1);
      if (info < 0) throw_bad_argument("sytrf", -info);
      if (info > 0) return info;
    }
    if (columns > 0) table<T>().sytrs(&t, &n, &columns, a, &lda, pivots, b, &ldb, &info, 1);
    if (info < 0) throw_bad_argument("sytrs", -info);
    return info;
  }

  /// Exchanges rows of A, which has n columns, as getrf() did for the first `count` pivots; `undo`: in reverse.
  template <Scalar T>
  void laswp(int n, T* a, int lda, int count, const std::int32_t* pivots, bool undo = false) const {
    const std::int32_t first = 1, step = undo ? -1 : 1;
    require_routine(table<T>().laswp, "laswp")(&n, a, &lda, &first, &count, pivots, &step);
  }

  /// QR factorization of an m x n matrix in place, in blocks of `ib` reflectors, at most min(m, n). R is on and above
  /// the diagonal, the reflectors below it; their triangular factors are in `t`, which is ib x min(m, n). `work` has ib
  /// n elements.
  template <Scalar T>
  void geqrt(int m, int n, int ib, T* a, int lda, T* t, int ldt, T* work) const {
    std::int32_t info = 0;
    require_routine(table<T>().geqrt, "geqrt")(&m, &n, &ib, a, &lda, t, &ldt, work, &info);
    if (info < 0) throw_bad_argument("geqrt", -info);
  }

  /// C := op(Q) C for the k reflectors that geqrt() stored in v and t, where C is m x n. `work` has ib n elements.
  template <Scalar T>
  void gemqrt(Transpose op, int m, int n, int k, int ib, const T* v, int ldv, const T* t, int ldt, T* c,
              int ldc, T* work) const {
    const char s = letter(Side::left), o = letter(op);
    std::int32_t info = 0;
    require_routine(table<T>().gemqrt, "gemqrt")(&s, &o, &m, &n, &k, &ib, v, &ldv, t, &ldt, c, &ldc, work,
                                                 &info, 1, 1);
    if (info < 0) throw_bad_argument("gemqrt", -info);
  }

  /// QR factorization in place of the n x n triangle A on top of the m x n matrix B, whose last l rows are upper
  /// trapezoidal; elements below the diagonals are not accessed. A becomes R, B the reflectors, t (ib x n) their
  /// triangular factors; ib is at most n. `work` has ib n elements.
  template <Scalar T>
  void tpqrt(int m, int n, int l, int ib, T* a, int lda, T* b, int ldb, T* t, int ldt, T* work) const {
    std::int32_t info = 0;
    require_routine(table<T>().tpqrt, "tpqrt")(&m, &n, &l, &ib, a, &lda, b, &ldb, t, &ldt, work, &info);
    if (info < 0) throw_bad_argument("tpqrt", -info);
  }

  /// Applies op(Q) to A (k x n) on top of B (m x n), for the k reflectors that tpqrt() stored in v and t. `work` has ib
  /// n elements.
  template <Scalar T>
  void tpmqrt(Transpose op, int m, int n, int k, int l, int ib, const T* v, int ldv, const T* t, int ldt,
              T* a, int lda, T* b, int ldb, T* work) const {
    const char s = letter(Side::left), o = letter(op);
    std::int32_t info = 0;
    require_routine(table<T>().tpmqrt, "tpmqrt")(&s, &o, &m, &n, &k, &l, &ib, v, &ldv, t, &ldt, a, &lda, b,
                                                 &ldb, work, &info, 1, 1);
    if (info < 0) throw_bad_argument("tpmqrt", -info);
  }

  /// A = Q B P^H of an n x n matrix in place, with B upper bidiagonal and real. Its diagonal is in `d` (n elements), its
  /// superdiagonal in `e` (n - 1). The reflectors of Q and P are in A, `tau_q` and `tau_p` (n elements). `work` has
  /// `size` elements, at least 2 n.
  template <Scalar T>
  void gebrd(int n, T* a, int lda, RealOf<T>* d, RealOf<T>* e, T* tau_q, T* tau_p, T* work, int size) const {
    std::int32_t info = 0;
    require_routine(table<T>().gebrd, "gebrd")(&n, &n, a, &lda, d, e, tau_q, tau_p, work, &size, &info);
    if (info < 0) throw_bad_argument("gebrd", -info);
  }

  /// Selects a factor of gebrd().
  enum class Reduced : char { q = 'Q', p = 'P' };
  /// C := op(Q) C or op(P) C, where C is n x columns. `a` is modified and restored. `work` has `size` elements, at
  /// least `columns`.
  template <Scalar T>
  void ormbr(Reduced which, Transpose op, int n, int columns, T* a, int lda, const T* tau, T* c, int ldc,
             T* work, int size) const {
    const char v = letter(which), s = letter(Side::left), o = letter(op);
    std::int32_t info = 0;
    require_routine(table<T>().ormbr, "ormbr")(&v, &s, &o, &n, &columns, &n, a, &lda, tau, c, &ldc, work,
                                               &size, &info, 1, 1, 1);
    if (info < 0) throw_bad_argument("ormbr", -info);
  }

  /// B := the x of smallest norm that minimizes || b - A x ||, for each column, where A is bidiagonal with diagonal `d`
  /// and off-diagonal `e`, above or below. Singular values of at most `tolerance` times the largest count as zero. `d`
  /// becomes the singular values in descending order; `e` is destroyed. The leaves of divide and conquer have up to
  /// lalsd_leaf rows. Returns the rank, or none if the singular values cannot be computed. `work` has lalsd_work()
  /// elements, `iwork` has lalsd_integers().
  template <Real T>
  [[nodiscard]] std::optional<int> lalsd(Triangle where, int n, int columns, T* d, T* e, T* b, int ldb,
                                         NonDeduced<T> tolerance, T* work, std::int32_t* iwork) const {
    const char t = letter(where);
    std::int32_t info = 0, rank = 0;
    require_routine(table<T>().lalsd, "lalsd")(&t, &lalsd_leaf, &n, &columns, d, e, b, &ldb, &tolerance,
                                               &rank, work, iwork, &info, 1);
    if (info < 0) throw_bad_argument("lalsd", -info);
    if (info > 0) return std::nullopt;
    return rank;
  }
  static constexpr std::int32_t lalsd_leaf = 25;
  static std::int64_t lalsd_levels(std::int64_t n) noexcept {
    std::int64_t levels = 0;
    for (std::int64_t rows = n; rows > lalsd_leaf; rows /= 2) ++levels;
    return levels + 1;  // one more than LAPACK requires
  }
  static std::int64_t lalsd_work(std::int64_t n, std::int64_t columns) noexcept {
    return n * (9 + 2 * lalsd_leaf + 8 * lalsd_levels(n) + columns) + (lalsd_leaf + 1) * (lalsd_leaf + 1);
  }
  static std::int64_t lalsd_integers(std::int64_t n) noexcept { return n * (3 * lalsd_levels(n) + 11); }

  /// Reduces a symmetric or Hermitian band matrix of order n and half-width `width` to a real tridiagonal one by unitary
  /// similarity transformations. Column j of its lower triangle is column j of `a`, from the diagonal on; `a` is destroyed. `d` gets
  /// the diagonal, `e` the n - 1 elements below it. `work` has n elements.
  template <Scalar T>
  void sbtrd(int n, int width, T* a, int lda, RealOf<T>* d, RealOf<T>* e, T* work) const {
    const char vectors = 'N', triangle = letter(Triangle::lower);
    const std::int32_t one = 1;
    std::int32_t info = 0;
    T unused = 0;
    require_routine(table<T>().sbtrd, "sbtrd")(&vectors, &triangle, &n, &width, a, &lda, d, e, &unused, &one,
                                               work, &info, 1, 1);
    if (info < 0) throw_bad_argument("sbtrd", -info);
  }

 private:
  Blas() = default;
  void read_blis_core_types(const SharedLibrary& library);
  [[noreturn]] void throw_bad_argument(const char* routine, int argument) const;
  [[noreturn]] void throw_missing(const char* routine) const;
  template <class Function>
  Function* require_routine(Function* function, const char* routine) const {
    if (function == nullptr) [[unlikely]]
      throw_missing(routine);
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
    if constexpr (std::is_same_v<T, std::complex<double>>) return complex_double_;
    if constexpr (std::is_same_v<T, std::complex<float>>) return complex_float_;
  }

  Routines<double> double_;
  Routines<float> float_;
  Routines<std::complex<double>> complex_double_;
  Routines<std::complex<float>> complex_float_;
  std::unique_ptr<Buffers> buffers_;
  LibraryThreads threads_;
  std::unique_ptr<OwnProducts> own_;  // null: products are the library's
  std::string path_, lapack_path_, version_, core_type_, core_type_variable_, core_type_numbers_;
};

}  // namespace fairlead::linalg
