// What people read about the settings, made from the schema; help_text() of config.hpp is the other half.
#pragma once
#include <string>

namespace fairlead::config {

/// docs/configuration.md
std::string configuration_page();

}  // namespace fairlead::config
