// A separate descriptor table for one thread. When the process is killed, descriptors that only this thread has are
// closed as soon as it ends: before the other threads end, and before the memory is freed, which may take long.
// Children that the program forks do not keep them open.
#pragma once
#include <span>

namespace fairlead::net {

/// The calling thread keeps only these descriptors; those of other threads do not change. False: the system refuses,
/// and the thread still shares the table of the process.
bool take_own_descriptors(std::span<const int> keep);

}  // namespace fairlead::net
