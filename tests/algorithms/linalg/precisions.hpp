// The precisions in which a test of linear algebra runs.
#pragma once
#include <gtest/gtest.h>

#include <type_traits>

#include "sanitized.hpp"

namespace fairlead::linalg::testing {

/// Both; the first of them where a sanitizer watches, to which they are the same program. Some tests begin with one, some
/// with the other.
template <class First, class Second>
using BothOrFirst =
    std::conditional_t<fairlead::tests::sanitized, ::testing::Types<First>, ::testing::Types<First, Second>>;

}  // namespace fairlead::linalg::testing
