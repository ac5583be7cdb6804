// The Fortran routines of BLAS and LAPACK that Fairlead calls, as a table of functions for one element type. 32-bit
// integers (LP64). Each CHARACTER argument has a hidden length after the other arguments, which compiled Fortran
// expects and C implementations ignore.
#pragma once
#include <complex>
#include <cstddef>
#include <cstdint>

#include "base/scalar.hpp"

namespace fairlead {
class SharedLibrary;
}

namespace fairlead::linalg {

template <class T>
struct Routines {
  using Real = RealOf<T>;
  using Int = const std::int32_t*;
  using Char = const char*;
  using Length = std::size_t;

  using Gemm = void(Char, Char, Int, Int, Int, const T*, const T*, Int, const T*, Int, const T*, T*, Int,
                    Length, Length);
  using Symm = void(Char, Char, Int, Int, const T*, const T*, Int, const T*, Int, const T*, T*, Int, Length,
                    Length);
  using Syrk = void(Char, Char, Int, Int, const Real*, const T*, Int, const Real*, T*, Int, Length, Length);
  using Triangular = void(Char, Char, Char, Char, Int, Int, const T*, const T*, Int, T*, Int, Length, Length,
                          Length, Length);  // trsm, trmm
  using Gemv = void(Char, Int, Int, const T*, const T*, Int, const T*, Int, const T*, T*, Int, Length);
  using Trsv = void(Char, Char, Char, Int, const T*, Int, T*, Int, Length, Length, Length);
  using Potrf = void(Char, Int, T*, Int, std::int32_t*, Length);
  using Trtri = void(Char, Char, Int, T*, Int, std::int32_t*, Length, Length);
  using Getrf = void(Int, Int, T*, Int, std::int32_t*, std::int32_t*);
  using Sytrf = void(Char, Int, T*, Int, std::int32_t*, T*, Int, std::int32_t*, Length);
  using Sytrs = void(Char, Int, Int, const T*, Int, Int, T*, Int, std::int32_t*, Length);
  using Laswp = void(Int, T*, Int, Int, Int, Int, Int);
  using Geqrt = void(Int, Int, Int, T*, Int, T*, Int, T*, std::int32_t*);
  using Gemqrt = void(Char, Char, Int, Int, Int, Int, const T*, Int, const T*, Int, T*, Int, T*,
                      std::int32_t*, Length, Length);
  using Tpqrt = void(Int, Int, Int, Int, T*, Int, T*, Int, T*, Int, T*, std::int32_t*);
  using Tpmqrt = void(Char, Char, Int, Int, Int, Int, Int, const T*, Int, const T*, Int, T*, Int, T*, Int, T*,
                      std::int32_t*, Length, Length);
  using Gebrd = void(Int, Int, T*, Int, Real*, Real*, T*, T*, T*, Int, std::int32_t*);
  using Ormbr = void(Char, Char, Char, Int, Int, Int, T*, Int, const T*, T*, Int, T*, Int, std::int32_t*,
                     Length, Length, Length);
  using Lalsd = void(Char, Int, Int, Int, T*, T*, T*, Int, const T*, std::int32_t*, T*, std::int32_t*,
                     std::int32_t*, Length);
  using Sbtrd = void(Char, Char, Int, Int, T*, Int, Real*, Real*, T*, Int, T*, std::int32_t*, Length, Length);

  Gemm* gemm = nullptr;
  Symm* symm = nullptr;
  Syrk* syrk = nullptr;  // herk for complex numbers
  Triangular* trsm = nullptr;
  Triangular* trmm = nullptr;
  Gemv* gemv = nullptr;
  Trsv* trsv = nullptr;
  Potrf* potrf = nullptr;
  Trtri* trtri = nullptr;
  // Optional: Blas reports a missing routine when it is called, so that a library without it remains usable. LAPACK has
  // geqrt to tpmqrt since 3.4 (2011), the last four since 3.0 (1999).
  Getrf* getrf = nullptr;
  Sytrf* sytrf = nullptr;  // hetrf for complex numbers
  Sytrs* sytrs = nullptr;  // hetrs for complex numbers
  Laswp* laswp = nullptr;
  Geqrt* geqrt = nullptr;
  Gemqrt* gemqrt = nullptr;
  Tpqrt* tpqrt = nullptr;
  Tpmqrt* tpmqrt = nullptr;
  Gebrd* gebrd = nullptr;
  Ormbr* ormbr = nullptr;  // unmbr for complex numbers
  Lalsd* lalsd = nullptr;
  Sbtrd* sbtrd = nullptr;  // hbtrd for complex numbers

  /// Fills the table. Throws SystemError naming the first missing routine, except for optional ones. All routines of
  /// complex numbers are optional; the table has those that factorizations of such matrices call.
  static Routines from(const SharedLibrary& blas, const SharedLibrary& lapack);
};

extern template struct Routines<double>;
extern template struct Routines<float>;
extern template struct Routines<std::complex<double>>;
extern template struct Routines<std::complex<float>>;

}  // namespace fairlead::linalg
