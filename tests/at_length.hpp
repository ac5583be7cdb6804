// Whether the tests of this program were asked for at length, by the argument --long: what is otherwise a choice of cases,
// pairs of them or every so many, is then all of them. The build option FAIRLEAD_LONG_TESTS gives it to all of ctest's.
#pragma once

#include "sanitized.hpp"

namespace fairlead::tests {

bool at_length();

/// False where a sanitizer watches and nobody has asked for all: what is repeated is then repeated less often.
inline bool many_cases() { return at_length() || !sanitized; }

}  // namespace fairlead::tests
