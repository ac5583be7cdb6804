// The main program of the tests; see at_length.hpp.
#include <gtest/gtest.h>

#include <algorithm>
#include <string_view>

#include "at_length.hpp"

namespace fairlead::tests {

namespace {
bool asked_for_all = false;
}

bool at_length() { return asked_for_all; }

}  // namespace fairlead::tests

int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  fairlead::tests::asked_for_all =
      std::any_of(argv + 1, argv + argc, [](std::string_view word) { return word == "--long"; });
  return RUN_ALL_TESTS();
}
