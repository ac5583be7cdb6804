// The options of DARTS and its variants.
#pragma once
#include <array>
#include <cstdint>
#include <string_view>

#include "policy/policy_options.hpp"

namespace fairlead::schedule {

/// The eviction rule.
enum class DartsEviction : std::uint8_t {
  published,  // section 5.4: see victim()
  belady,     // furthest next use in taskBuffer, then plannedTasks
};

/// The tasks whose data are prefetched.
enum class DartsPrefetch : std::uint8_t {
  buffer,   // tasks of taskBuffer, as in section 5.2
  planned,  // tasks of plannedTasks too
};
struct DartsRules {
  DartsEviction eviction = DartsEviction::published;
  DartsPrefetch prefetch = DartsPrefetch::buffer;
};

namespace darts {
inline constexpr std::array options{
    PolicyOption{"prefetch", "buffer",
                 "the tasks whose data are prefetched: those of the buffer, which workers have picked, or "
                 "all planned tasks"}};
}  // namespace darts
inline DartsRules darts_rules(const PolicyOptions& options) {
  constexpr std::array<std::string_view, 2> choices{"buffer", "planned"};
  return {.prefetch = static_cast<DartsPrefetch>(options.choice("prefetch", choices))};
}

}  // namespace fairlead::schedule
