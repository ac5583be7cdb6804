// Whether the tests of this program were asked for at length, by the argument --long: what is otherwise a choice of cases,
// pairs of them or every so many, is then all of them. The build option FAIRLEAD_LONG_TESTS gives it to all of ctest's.
#pragma once

#include <cstddef>

#include "sanitized.hpp"

namespace fairlead::tests {

bool at_length();

/// False where a sanitizer watches and nobody has asked for all: what is repeated is then repeated less often.
inline bool many_cases() { return at_length() || !sanitized; }

/// Of the cases of a product, which come in turn, a sanitizer sees one in so many. A number that divides none of the product's
/// factors meets the values of each of them.
inline bool left_out(std::size_t turn, std::size_t one_in) { return !many_cases() && turn % one_in != 0; }

}  // namespace fairlead::tests
