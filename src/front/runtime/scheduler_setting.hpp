// The setting `scheduler`.
#pragma once
#include <fairlead/config.hpp>

#include <memory>
#include <string>

#include "policy/policy.hpp"

namespace fairlead::front {

/// The policy that the setting names as `written`: a policy with its options, or a plug-in. Throws ConfigError with the
/// nearest name if there is none.
std::unique_ptr<Policy> make_scheduler(const Config& config, const std::string& written);

}  // namespace fairlead::front
