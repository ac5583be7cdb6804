// Finds the routines by their Fortran names: dgemm_, sgemm_, zgemm_, cgemm_.
#include "algorithms/linalg/blas/routines.hpp"

#include <string>
#include <type_traits>

#include "base/shared_library.hpp"

namespace fairlead::linalg {

namespace {

template <class T>
constexpr char type_letter = is_complex_number<T> ? (std::is_same_v<RealOf<T>, double> ? 'z' : 'c')
                                                  : (std::is_same_v<T, double> ? 'd' : 's');

}  // namespace

template <class T>
Routines<T> Routines<T>::from(const SharedLibrary& blas, const SharedLibrary& lapack) {
  Routines table;
  const auto optional = [](const SharedLibrary& library, auto*& routine, const char* name) {
    routine = library.find<std::remove_reference_t<decltype(*routine)>>(
        (std::string(1, type_letter<T>) + name + "_").c_str());
  };
  const auto required = [&](const SharedLibrary& library, auto*& routine, const char* name) {
    if constexpr (is_complex_number<T>)
      optional(library, routine, name);
    else
      routine = library.require<std::remove_reference_t<decltype(*routine)>>(
          (std::string(1, type_letter<T>) + name + "_").c_str());
  };
  required(blas, table.gemm, "gemm");
  required(blas, table.trsm, "trsm");
  required(blas, table.trmm, "trmm");
  required(blas, table.gemv, "gemv");
  required(blas, table.trsv, "trsv");
  required(lapack, table.potrf, "potrf");
  optional(lapack, table.getrf, "getrf");
  optional(lapack, table.sytrf, is_complex_number<T> ? "hetrf" : "sytrf");
  optional(lapack, table.sytrs, is_complex_number<T> ? "hetrs" : "sytrs");
  optional(lapack, table.laswp, "laswp");
  optional(lapack, table.geqrt, "geqrt");
  optional(lapack, table.gemqrt, "gemqrt");
  optional(lapack, table.tpqrt, "tpqrt");
  optional(lapack, table.tpmqrt, "tpmqrt");
  optional(lapack, table.gebrd, "gebrd");
  optional(lapack, table.ormbr, is_complex_number<T> ? "unmbr" : "ormbr");
  optional(lapack, table.sbtrd, is_complex_number<T> ? "hbtrd" : "sbtrd");
  required(blas, table.syrk, is_complex_number<T> ? "herk" : "syrk");
  if constexpr (!is_complex_number<T>) {
    required(blas, table.symm, "symm");
    required(lapack, table.trtri, "trtri");
    optional(lapack, table.lalsd, "lalsd");
  }
  return table;
}

template struct Routines<double>;
template struct Routines<float>;
template struct Routines<std::complex<double>>;
template struct Routines<std::complex<float>>;

}  // namespace fairlead::linalg
