// A thread with a table of descriptors of its own. When its process is killed, what only that thread has open is closed as
// soon as the thread is gone: before the other threads are, and before the memory is given back, which may take long. And
// what the program forks does not keep it open.
#pragma once
#include <span>

namespace fairlead::net {

/// The calling thread has these from now on and no other descriptors; the other threads' stay as they are. False: the
/// system does not let it, and it shares those of the process as before.
bool take_own_descriptors(std::span<const int> keep);

}  // namespace fairlead::net
