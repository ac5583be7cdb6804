// The one table of Fairlead's settings. A new setting is a new row in schema.cpp and nothing else.
#pragma once
#include <fairlead/setting.hpp>

#include <span>
#include <string_view>
#include <vector>

namespace fairlead::config {

std::span<const Setting> schema() noexcept;

/// As CommandLine::settings has it, of a program on the library: all that a runtime heeds, and what the
/// program says that it heeds itself. Throws UsageError for a name that is no setting.
std::vector<TakenSetting> taken_by_programs(std::span<const std::string_view> heeded);

}  // namespace fairlead::config
