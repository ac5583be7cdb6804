// Killing of processes: a hung one of another rank, or this one when nothing else ends it.
#pragma once
#include <sys/types.h>

#include <cstdint>
#include <optional>

#include "base/time.hpp"

namespace fairlead::net {

/// The start time of a process of this machine, in clock ticks of the system. Nothing if the process does not exist.
std::optional<std::uint64_t> process_start_time(pid_t process);

/// Kills a process of this machine if its start time matches. False if it does not exist or belongs to another user.
bool kill_process(pid_t process, std::uint64_t started) noexcept;

/// Lets the system kill this process after that time, whatever its threads wait for. False if the system refuses.
bool kill_self_after(Duration time) noexcept;

}  // namespace fairlead::net
