// Roles of tasks. Most tasks are the program's; the runtime adds its own, ordered by the graph like others.
// RoleTraits has the properties of each role, for code that does not depend on a specific one. engine/roles/ has the
// engine's part, one file per role.
#pragma once
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace fairlead {

enum class TaskRole : std::uint8_t {
  program,      // a task of the program: a worker runs its body
  fold,         // adds a partial result to its datum; ends at once if that is empty
  hold,         // an acquisition by the application: admitted like a task, ended by hold_released
  view_switch,  // between accesses to a whole and to its blocks: ends as soon as its data are in their homes
  sequence_point,  // the network's position in the program order: uses no memory, ended by hold_released
  remote_access,   // a hold by the network while it transfers bytes
};
inline constexpr std::size_t task_roles = 6;

struct RoleTraits {
  bool by_worker = false;  ///< runs on a worker that the policy chooses; otherwise a pseudo-task that the
                           ///< engine processes
  bool at_home = false;    ///< uses its data in their homes, so it needs no reservation and blocks no other
                           ///< task
  bool pooled = false;     ///< its descriptor belongs to the graph and is recycled
  std::uint8_t mark = 0;   ///< in event logs; three bits
  std::string_view verb_in_messages{};  ///< in messages, before the place in the program
  bool ignores_claims = false;  ///< other ranks wait for it: a claim on a node's memory does not block it
};

constexpr RoleTraits traits_of(TaskRole role) noexcept {
  switch (role) {
    case TaskRole::program:
      return {
          .by_worker = true, .at_home = false, .pooled = true, .mark = 0, .verb_in_messages = "submitted"};
    case TaskRole::fold:
      return {
          .by_worker = true, .at_home = false, .pooled = true, .mark = 4, .verb_in_messages = "submitted"};
    case TaskRole::hold:
      return {
          .by_worker = false, .at_home = false, .pooled = false, .mark = 1, .verb_in_messages = "asked for"};
    case TaskRole::view_switch:
      return {
          .by_worker = false, .at_home = true, .pooled = true, .mark = 3, .verb_in_messages = "asked for"};
    case TaskRole::sequence_point:
      return {.by_worker = false, .at_home = true, .pooled = false, .mark = 2, .verb_in_messages = "needed"};
    case TaskRole::remote_access:
      return {.by_worker = false,
              .at_home = false,
              .pooled = false,
              .mark = 5,
              .verb_in_messages = "needed",
              .ignores_claims = true};
  }
  return {};
}
static_assert(!traits_of(TaskRole{task_roles - 1}).verb_in_messages.empty() &&
                  traits_of(TaskRole{task_roles}).verb_in_messages.empty(),
              "the number of roles is that of the list");

}  // namespace fairlead
