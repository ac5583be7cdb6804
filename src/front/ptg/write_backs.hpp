// Write-back tasks. With several ranks, a value to be stored in a collection's datum may be in another datum, because
// it arrived from or was changed on another rank. Each such output gets a task that runs where the datum is and
// copies the value there, after all readers of the old contents. It does nothing if the value is already in that
// datum.
#pragma once
#include <fairlead/ptg/definition.hpp>

#include <memory>
#include <vector>

namespace fairlead::ptg {

/// True if data of this collection can be copied.
inline bool can_write_back(const CollectionDefinition& data) { return data.copier.codelet != nullptr; }

/// The given definitions, followed by the classes of write-back tasks.
std::vector<std::shared_ptr<const ClassDefinition>> with_write_backs(
    const std::vector<std::shared_ptr<const ClassDefinition>>& definitions);

}  // namespace fairlead::ptg
