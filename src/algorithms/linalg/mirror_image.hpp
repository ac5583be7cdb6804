// The element on the other side of the diagonal: the conjugate in a Hermitian matrix, the same in a symmetric one.
#pragma once
#include <fairlead/ldlt.hpp>

#include "algorithms/linalg/blas/blas.hpp"
#include "base/scalar.hpp"

namespace fairlead::linalg {

template <class T>
T mirror_image(T x, Symmetry symmetry) noexcept {
  return symmetry == Symmetry::hermitian ? conjugate(x) : x;
}
/// The operation that maps the matrix to itself.
template <Scalar T>
constexpr Transpose mirroring(Symmetry symmetry) noexcept {
  return symmetry == Symmetry::hermitian ? adjoint<T> : Transpose::yes;
}

}  // namespace fairlead::linalg
