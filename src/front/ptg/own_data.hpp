// Of data that are dealt out a rank keeps in memory what is its own, and one handle of each shape that there is: however many
// others have.
#pragma once
#include <fairlead/ptg/definition.hpp>

namespace fairlead::ptg {

/// Leaves out the handles of what is not here. Nothing happens to data that nobody has dealt out. Once.
void keep_own(CollectionDefinition& definition);

}  // namespace fairlead::ptg
