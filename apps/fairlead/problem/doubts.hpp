// Warnings about settings that are valid but probably unintended: more memory than the machine has, many more
// workers than cores, a former name.
#pragma once
#include <fairlead/config.hpp>

#include <string>
#include <vector>

#include "machine/machine.hpp"

namespace fairlead::app {

/// A sentence each, with the consequence and the alternative. `ranks`: those that share the machine, each
/// with these settings.
std::vector<std::string> doubts_about(const Config& config, const machine::Machine& machine,
                                      std::size_t ranks = 1);

}  // namespace fairlead::app
