// Direct copies between two devices. Checks the driver's answer by a trial copy: some drivers report peer access
// although the bytes do not arrive (behind an IOMMU, in virtual machines), which would go unnoticed.
#pragma once
#include <fairlead/ids.hpp>

#include <string>

#include "backend/cuda/device.hpp"

namespace fairlead::backend::cu {

/// Enables direct copies while both contexts are retained. Returns the reason in one line if they do not work,
/// otherwise an empty text. Never disabled again, since other code in the process may use them.
std::string join_peers(const CudaDevice& first, const CudaDevice& second);

/// Enqueues a copy in a stream of `from`, which is current. The devices are peers or the same device of the driver.
/// Throws SystemError if nothing was enqueued; DeviceLostError for the device that is lost.
void copy_to_peer(const CudaDevice& from, Pointer source, const CudaDevice& to, Pointer target, Bytes bytes,
                  Stream stream);

}  // namespace fairlead::backend::cu
