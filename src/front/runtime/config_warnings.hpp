// Warnings about settings that are valid but probably unintended: more memory than the machine has, many more
// workers than cores, a former name.
#pragma once
#include <fairlead/config.hpp>

#include <string>
#include <vector>

#include "machine/machine.hpp"

namespace fairlead::front {

/// One sentence per warning, with the consequence and the alternative. `ranks`: the number of ranks on this
/// machine, all with these settings.
std::vector<std::string> config_warnings(const Config& config, const machine::Machine& machine,
                                         std::size_t ranks = 1);

}  // namespace fairlead::front
