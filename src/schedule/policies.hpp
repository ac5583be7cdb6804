// All scheduling policies, by name.
#pragma once
#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "policy/policy.hpp"

namespace fairlead::schedule {

/// All policies listed to users, in that order.
std::span<const PolicyEntry> policies();

/// The names of policies().
std::vector<std::string_view> policy_names();
/// The name in "name" or "name:option=value:option=value". For a name of an earlier version, today's name.
std::string_view name_in(std::string_view written) noexcept;
/// The message to print for a policy name of an earlier version; otherwise empty.
std::string renaming_note(std::string_view written);

/// `written`: a name or the path of a plug-in (schedule/plugin.hpp), optionally with options. Throws ConfigError if
/// there is no such policy or option, with the closest name.
std::unique_ptr<Policy> make_policy(std::string_view written);

/// The inputs of the selection of the default policy.
struct PolicySelectionInput {
  bool fits = true;            ///< all data that tasks use fit together into each memory
  bool devices = false;        ///< the machine has accelerators
  bool several_ranks = false;  ///< this is one rank of several
  std::size_t cores = 1;       ///< cores that run tasks on this rank
};
/// The default policy. Where cores work on data that fit, the order of tasks matters little and lws is cheapest. With
/// several ranks, each waits for values of others and has few tasks ahead; with several cores and data that fit, urgent
/// starts urgent tasks earliest, else near applies. In all other cases candidates are simulated
/// (docs/default-policy.md).
std::string_view default_policy(const PolicySelectionInput& circumstances) noexcept;

}  // namespace fairlead::schedule
