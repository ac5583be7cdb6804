// The error of a solve that would divide by zero.
#pragma once
#include <fairlead/error.hpp>

namespace fairlead::linalg {

/// The matrix is singular: the system has no solution or more than one.
class SingularError : public NumericalError {
 public:
  using NumericalError::NumericalError;
};

}  // namespace fairlead::linalg
