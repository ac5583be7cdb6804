// Runs something at the moment at which this thread next allocates memory: the one point inside an insertion
// that a test can reach, between the insertion's look at the epoch before and its farewell to it.
#pragma once
#include <cstddef>
#include <functional>

namespace fairlead::tests {

/// `action` is called once, by the next `new` of this thread. An empty one takes it back.
void at_next_allocation(std::function<void()> action);
/// Allocations of this thread so far.
std::size_t allocations() noexcept;

}  // namespace fairlead::tests
