// The argument --long of test programs: they run all cases instead of a selection (pairs, or every n-th). The build option
// FAIRLEAD_LONG_TESTS passes it to all tests of ctest.
#pragma once

#include <cstddef>

#include "sanitized.hpp"

namespace fairlead::tests {

bool at_length();

/// False with a sanitizer, without --long: repeated tests have fewer repetitions.
inline bool many_cases() { return at_length() || !sanitized; }

/// With a sanitizer, only one of `one_in` cases of a product runs. A number that divides none of the product's factors
/// covers the values of each factor.
inline bool left_out(std::size_t turn, std::size_t one_in) { return !many_cases() && turn % one_in != 0; }

}  // namespace fairlead::tests
