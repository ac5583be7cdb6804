// For a distributed collection, a rank stores only the handles of its own data, and one handle of each shape,
// whatever the size of the whole.
#pragma once
#include <fairlead/ptg/definition.hpp>

namespace fairlead::ptg {

/// Drops the handles of data of other ranks. No effect on a collection that is not distributed. Call once.
void keep_own(CollectionDefinition& definition);

}  // namespace fairlead::ptg
