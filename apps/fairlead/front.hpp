// How the tasks of an algorithm reach the runtime: an option of the commands that compute.
#pragma once
#include <fairlead/config.hpp>

#include <array>
#include <cstdint>

#include "fairlead/subcommand.hpp"

namespace fairlead::app {

enum class Front : std::uint8_t {
  flow,  // one after the other, in program order
  ptg,   // as a parameterized graph, which is never unrolled
};

inline constexpr std::array front_options{Setting{
    .key = "front",
    .type = SettingType::choice,
    .fallback = "flow",
    .choices = "flow|ptg",
    .help = "how factorizations, solves and products are said: as a flow, one task after the other, or "
            "as a parameterized graph, which never has all its tasks in memory; the tasks and the "
            "result are the same"}};

/// Throws ConfigError for what goes with flows only.
Front front_in(const Config& config);

}  // namespace fairlead::app
