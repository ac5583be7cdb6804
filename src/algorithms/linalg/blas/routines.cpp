// Finds the routines by their Fortran names: dgemm_, sgemm_, ...
#include "algorithms/linalg/blas/routines.hpp"

#include <string>
#include <type_traits>

#include "base/shared_library.hpp"

namespace fairlead::linalg {

template <class T>
Routines<T> Routines<T>::from(const SharedLibrary& blas, const SharedLibrary& lapack) {
  const auto symbol = [](const char* name) {
    return std::string(std::is_same_v<T, double> ? "d" : "s") + name + "_";
  };
  Routines table;
  table.gemm = blas.require<Gemm>(symbol("gemm").c_str());
  table.symm = blas.require<Symm>(symbol("symm").c_str());
  table.syrk = blas.require<Syrk>(symbol("syrk").c_str());
  table.trsm = blas.require<Triangular>(symbol("trsm").c_str());
  table.trmm = blas.require<Triangular>(symbol("trmm").c_str());
  table.gemv = blas.require<Gemv>(symbol("gemv").c_str());
  table.trsv = blas.require<Trsv>(symbol("trsv").c_str());
  table.potrf = lapack.require<Potrf>(symbol("potrf").c_str());
  table.trtri = lapack.require<Trtri>(symbol("trtri").c_str());
  table.lange = lapack.require<Lange>(symbol("lange").c_str());
  table.lansy = lapack.require<Lansy>(symbol("lansy").c_str());
  table.getrf = lapack.find<Getrf>(symbol("getrf").c_str());
  table.laswp = lapack.find<Laswp>(symbol("laswp").c_str());
  table.geqrt = lapack.find<Geqrt>(symbol("geqrt").c_str());
  table.gemqrt = lapack.find<Gemqrt>(symbol("gemqrt").c_str());
  table.tpqrt = lapack.find<Tpqrt>(symbol("tpqrt").c_str());
  table.tpmqrt = lapack.find<Tpmqrt>(symbol("tpmqrt").c_str());
  table.gebrd = lapack.find<Gebrd>(symbol("gebrd").c_str());
  table.ormbr = lapack.find<Ormbr>(symbol("ormbr").c_str());
  table.lalsd = lapack.find<Lalsd>(symbol("lalsd").c_str());
  table.sbtrd = lapack.find<Sbtrd>(symbol("sbtrd").c_str());
  return table;
}

template struct Routines<double>;
template struct Routines<float>;

}  // namespace fairlead::linalg
