// Generates the documentation of the settings from the schema; help_text() of config.hpp generates --help.
#pragma once
#include <string>

namespace fairlead::config {

/// The text of docs/configuration.md.
std::string configuration_page();

}  // namespace fairlead::config
