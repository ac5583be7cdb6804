// "Did you mean ...?": the valid name nearest to a misspelt one.
#pragma once
#include <cstddef>
#include <span>
#include <string>
#include <string_view>

namespace fairlead {

/// The number of insertions, deletions, replacements and swaps of adjacent letters that turn `a` into `b` (optimal
/// string alignment distance).
std::size_t edit_distance(std::string_view a, std::string_view b);

/// The candidate nearest to `name`, the first of equals. Empty if none is near: more than a third of the letters
/// differ (one always may), and none contains the name. A candidate with `name` as its first word ("v100" of
/// "v100-pcie") counts as one letter away, and precedes others at that distance.
std::string_view nearest(std::string_view name, std::span<const std::string_view> candidates);

/// " (did you mean --memory?)", with `prefix` "--"; empty if nothing is near.
std::string did_you_mean(std::string_view name, std::span<const std::string_view> candidates,
                         std::string_view prefix = {});

}  // namespace fairlead
