// The operators new and delete of this test program: they count, and fail as requested.
#pragma once
#include <cstddef>
#include <cstdint>

namespace fairlead::allocation {

/// The allocations number `first` to `first + in_a_row - 1`, counted from 1 over all threads from now on,
/// throw std::bad_alloc.
void fail(std::uint64_t first, std::uint64_t in_a_row);
void never_fail();
/// From now on, allocations write their places into `places` until it is full: a number that is the same for the same
/// innermost 48 calls, in each process that was forked from one.
void note_places(std::uint64_t* places, std::size_t most);
/// The number of allocations since then.
std::uint64_t counted();
/// Allocated and not freed, over all threads. Excludes freed memory that the allocator caches, as each thread does with
/// small blocks.
std::size_t bytes_in_use();
/// Writes the place of the first failed allocation to standard error. Does not allocate.
void tell_where() noexcept;
/// Likewise, where this is called.
void tell_here() noexcept;

}  // namespace fairlead::allocation
