// Whether a datum has a value, for whole data and for blocks of a partition.
#pragma once
#include "engine/datum_views.hpp"
#include "engine/registered_datum.hpp"

namespace fairlead::front {

/// Whether the datum has a value if its view is active. Blocks have values if the whole has one, and vice versa.
bool has_value(const engine::RegisteredDatum& datum) noexcept;

}  // namespace fairlead::front
