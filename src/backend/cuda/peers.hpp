// Devices that copy to each other without RAM in between. The driver is asked, told to allow it, and tried: some say that it
// works where bytes do not arrive (behind an IOMMU, in virtual machines), and nobody would notice.
#pragma once
#include <fairlead/ids.hpp>

#include <string>

#include "backend/cuda/device.hpp"

namespace fairlead::backend::cu {

/// From now on they copy to each other, as long as both contexts are held by anybody. Else why they do not, in a line. It is
/// not taken back later, since others in the process may use it as well.
std::string join_peers(const OpenDevice& first, const OpenDevice& second);

/// Puts a copy into a stream of `from`, which is current. They are peers, or both on one device of the driver. Throws
/// SystemError, when nothing was put there; DeviceLostError of the one of them that is lost.
void copy_to_peer(const OpenDevice& from, Pointer source, const OpenDevice& to, Pointer target, Bytes bytes,
                  Stream stream);

}  // namespace fairlead::backend::cu
