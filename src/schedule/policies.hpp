// All policies by name.
#pragma once
#include <memory>
#include <span>
#include <string_view>

#include "policy/policy.hpp"

namespace fairlead::schedule {

/// In the order in which they are listed to people.
std::span<const PolicyEntry> policies();

/// Throws ConfigError, naming the nearest valid name, if there is no such policy.
std::unique_ptr<Policy> make_policy(std::string_view name);

/// The policy for those who name none. `fits`: all data that tasks use fit in memory together. Then order
/// decides how busy the workers are, and lws is cheapest; else it decides what is moved
/// (docs/performance.md).
std::string_view default_policy(bool fits) noexcept;

}  // namespace fairlead::schedule
