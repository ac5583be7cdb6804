// Scheduling priority for a thread that mostly sleeps and must react fast, on busy cores.
#pragma once

namespace fairlead::net {

/// Raises the priority of the calling thread as far as the system permits: real-time priority, or the lowest nice
/// value, or a short time slice (Linux 6.12), which shortens its wait. For threads that need microseconds.
void raise_thread_priority() noexcept;

}  // namespace fairlead::net
