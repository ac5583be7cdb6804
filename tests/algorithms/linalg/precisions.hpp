// The precisions in which a test of linear algebra runs.
#pragma once
#include <gtest/gtest.h>

#include <type_traits>

#include "sanitized.hpp"

namespace fairlead::linalg::testing {

/// Both; with a sanitizer only the first one, since both execute the same code. The order varies between tests.
template <class First, class Second>
using BothOrFirst =
    std::conditional_t<fairlead::tests::sanitized, ::testing::Types<First>, ::testing::Types<First, Second>>;

}  // namespace fairlead::linalg::testing
