// Runs something at the moment at which this thread next allocates memory: the one point inside an insertion
// that a test can reach, between the insertion's look at the epoch before and its farewell to it.
#pragma once
#include <cstddef>
#include <functional>

namespace fairlead::tests {

/// Called once, by the next `new` of this thread; then empty again.
extern thread_local std::function<void()> at_next_allocation;
/// Allocations of this thread so far.
extern thread_local std::size_t allocations;

}  // namespace fairlead::tests
