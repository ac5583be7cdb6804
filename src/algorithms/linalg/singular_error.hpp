// What a solve throws that meets a zero where it has to divide.
#pragma once
#include <fairlead/error.hpp>

namespace fairlead::linalg {

/// The matrix is singular: a system with it has no solution, or more than one.
class SingularError : public NumericalError {
 public:
  using NumericalError::NumericalError;
};

}  // namespace fairlead::linalg
