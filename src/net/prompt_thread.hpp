// A thread that sleeps nearly always and has to be quick when it wakes, on cores that others keep busy.
#pragma once

namespace fairlead::net {

/// The calling thread comes first when it has something to do, as far as the system lets it: before all others where that
/// is allowed, or before those of its group, or by asking for short turns (Linux 6.12), for which it waits less. For
/// threads that need microseconds.
void be_prompt() noexcept;

}  // namespace fairlead::net
