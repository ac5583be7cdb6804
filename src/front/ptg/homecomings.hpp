// Over ranks a value that is to be left in a datum may be in another one: it has come from elsewhere, or been changed
// there. So a task is added for each that is left, which runs where the datum is and copies the value there, after all
// who have what was in it before; where the value is in that datum already, it does nothing.
#pragma once
#include <fairlead/ptg/definition.hpp>

#include <memory>
#include <vector>

namespace fairlead::ptg {

/// Data of such a collection can be copied.
inline bool comes_home(const CollectionDefinition& data) { return data.copier.codelet != nullptr; }

/// These, and after them the classes of those tasks.
std::vector<std::shared_ptr<const ClassDefinition>> with_homecomings(
    const std::vector<std::shared_ptr<const ClassDefinition>>& definitions);

}  // namespace fairlead::ptg
