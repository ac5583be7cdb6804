// Whether data have values, however they are seen: as a whole, or as parts.
#pragma once
#include "engine/datum_views.hpp"
#include "engine/registered_datum.hpp"

namespace fairlead::front {

/// Whether the datum has a value if it is seen now. Parts have values if the whole had, and the other way
/// round.
bool has_value(const engine::RegisteredDatum& datum) noexcept;

}  // namespace fairlead::front
