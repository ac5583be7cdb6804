// The operators new and delete of this test program: they count, and fail where they are told to.
#pragma once
#include <cstddef>
#include <cstdint>

namespace fairlead::allocation {

/// The allocations number `first` to `first + in_a_row - 1`, counted from 1 over all threads from now on,
/// throw std::bad_alloc.
void fail(std::uint64_t first, std::uint64_t in_a_row);
void never_fail();
/// The allocations from now on write into `places`, as far as it goes, from where they were asked for: a number that is the
/// same for the same calls, the innermost 48, in each process that was forked from one.
void note_places(std::uint64_t* places, std::size_t most);
/// How many there were since.
std::uint64_t counted();
/// Of all that was allocated so and not given back, over all threads. What the allocator keeps of what was given back, as
/// each thread does of small pieces, is not in it.
std::size_t bytes_in_use();
/// Writes to the standard error where the first of them was asked for. Allocates nothing.
void tell_where() noexcept;
/// Likewise, where this is called.
void tell_here() noexcept;

}  // namespace fairlead::allocation
