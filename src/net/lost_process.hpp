// The ends of processes that do not end by themselves: another's that hangs, and this one's where nothing else works.
#pragma once
#include <sys/types.h>

#include <cstdint>
#include <optional>

#include "base/time.hpp"

namespace fairlead::net {

/// When a process of this machine began, in the system's own count. Nothing if there is none.
std::optional<std::uint64_t> started_of(pid_t process);

/// Ends a process of this machine, if it is the one that began then. False if it is not there, or another user's.
bool kill_process(pid_t process, std::uint64_t started) noexcept;

/// The system ends this process after that time, whatever its threads wait for. False if it cannot.
bool kill_self_after(Duration time) noexcept;

}  // namespace fairlead::net
