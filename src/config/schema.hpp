// The one table of Fairlead's settings. A new setting is a new row in schema.cpp and nothing else.
#pragma once
#include <fairlead/setting.hpp>

#include <span>

namespace fairlead::config {

std::span<const Setting> schema() noexcept;

}  // namespace fairlead::config
