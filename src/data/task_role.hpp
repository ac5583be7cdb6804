// What tasks are there for. Most are the program's; the runtime has some of its own, which have their turn in the
// graph like any task. Here is what is so of all tasks of a role, for whoever need not know which roles there are;
// what the engine does with them is in engine/roles/, a file each.
#pragma once
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace fairlead {

enum class TaskRole : std::uint8_t {
  program,      // the program's: a worker runs its body
  fold,         // adds a partial result to its datum, or ends at once if there is nothing in it
  hold,         // the application's: admitted like a task, ended by hold_released
  view_switch,  // between a whole and its parts: ends as soon as its data are in their homes
  turn,         // the network's place in the program's order: uses no memory, ended by hold_released
  visit,        // the network's, while bytes are moved: else as a hold
};
inline constexpr std::size_t task_roles = 6;

struct RoleTraits {
  bool by_worker = false;  ///< a worker runs it, as the policy says; else it is a pseudo-task of the engine's
  bool at_home = false;    ///< it uses its data in their homes, so it needs no space: it is in nobody's way
  bool pooled = false;     ///< its descriptor is the graph's, which gets it back
  std::uint8_t mark = 0;   ///< in event logs; three bits
  std::string_view asked{};    ///< in messages, before a place in the program
  bool passes_claims = false;  ///< others than this rank wait for it: no claim of a node keeps it out
};

constexpr RoleTraits traits_of(TaskRole role) noexcept {
  switch (role) {
    case TaskRole::program:
      return {.by_worker = true, .at_home = false, .pooled = true, .mark = 0, .asked = "submitted"};
    case TaskRole::fold:
      return {.by_worker = true, .at_home = false, .pooled = true, .mark = 4, .asked = "submitted"};
    case TaskRole::hold:
      return {.by_worker = false, .at_home = false, .pooled = false, .mark = 1, .asked = "asked for"};
    case TaskRole::view_switch:
      return {.by_worker = false, .at_home = true, .pooled = true, .mark = 3, .asked = "asked for"};
    case TaskRole::turn:
      return {.by_worker = false, .at_home = true, .pooled = false, .mark = 2, .asked = "needed"};
    case TaskRole::visit:
      return {.by_worker = false,
              .at_home = false,
              .pooled = false,
              .mark = 5,
              .asked = "needed",
              .passes_claims = true};
  }
  return {};
}
static_assert(!traits_of(TaskRole{task_roles - 1}).asked.empty() &&
                  traits_of(TaskRole{task_roles}).asked.empty(),
              "the number of roles is that of the list");

}  // namespace fairlead
