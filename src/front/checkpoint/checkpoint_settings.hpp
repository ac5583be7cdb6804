// The settings of checkpoints.
#pragma once
#include <fairlead/config.hpp>

#include <string_view>

#include "front/checkpoint/checkpointer.hpp"

namespace fairlead::front {

/// The time that a setting has: "11h50m", "90s", "1.5h", or seconds. Throws ConfigError.
Duration time_in(std::string_view setting, std::string_view text);
/// Throws ConfigError.
Checkpointer::Settings checkpoint_settings(const Config& config);

}  // namespace fairlead::front
