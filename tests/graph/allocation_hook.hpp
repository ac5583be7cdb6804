// Runs an action at the next allocation of this thread: the only point inside an insertion that a test can reach,
// between the insertion's check of the previous epoch and its release.
#pragma once
#include <cstddef>
#include <functional>

namespace fairlead::tests {

/// `action` is called once, by the next `new` of this thread. An empty action cancels it.
void at_next_allocation(std::function<void()> action);
/// Allocations of this thread so far.
std::size_t allocations() noexcept;
/// Blocks freed by this thread so far.
std::size_t deallocations() noexcept;

}  // namespace fairlead::tests
