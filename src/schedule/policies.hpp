// All policies by name.
#pragma once
#include <cstddef>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "policy/policy.hpp"

namespace fairlead::schedule {

/// In the order in which they are listed to people.
std::span<const PolicyEntry> policies();

/// Their names alone.
std::vector<std::string_view> policy_names();
/// The name in "name" or "name:option=value:option=value".
std::string_view name_in(std::string_view written) noexcept;

/// `written`: a name or the path of a plug-in (schedule/plugin.hpp), perhaps with options. Throws ConfigError
/// if there is no such policy or option, naming what comes nearest.
std::unique_ptr<Policy> make_policy(std::string_view written);

/// What the policy for those who name none depends on.
struct Circumstances {
  bool fits = true;            ///< all data that tasks use fit together into each memory
  bool devices = false;        ///< there are some
  bool several_ranks = false;  ///< this is one of them
  std::size_t cores = 1;       ///< run tasks here
};
/// Where cores work on data that fit, the order of tasks matters little and lws is cheapest; of several ranks each waits for
/// what others have first, and hears of few tasks ahead, so that its cores take urgent ones late where there are some
/// and data fit; else it is found out what is best (docs/default-policy.md).
std::string_view default_policy(const Circumstances& circumstances) noexcept;

}  // namespace fairlead::schedule
