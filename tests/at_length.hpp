// Whether the tests of this program were asked for at length, by the argument --long: what is otherwise a choice of cases,
// pairs of them or every so many, is then all of them. The build option FAIRLEAD_LONG_TESTS gives it to all of ctest's.
#pragma once

namespace fairlead::tests {

bool at_length();

}  // namespace fairlead::tests
