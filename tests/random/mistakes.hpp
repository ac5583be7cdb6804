// The deliberate mistakes by their names.
#pragma once
#include <string_view>
#include <vector>

#include "base/deliberate_mistake.hpp"

namespace fairlead::random_runs {

/// Empty for `none`.
std::string_view name_of(Mistake mistake) noexcept;
/// All of them except `none`.
std::vector<Mistake> mistakes();

}  // namespace fairlead::random_runs
