// "Did you mean ...?": the valid name nearest to a misspelt one.
#pragma once
#include <cstddef>
#include <span>
#include <string>
#include <string_view>

namespace fairlead {

/// Insertions, deletions, replacements and swaps of neighbours that make `a` of `b` (optimal string
/// alignment).
std::size_t edit_distance(std::string_view a, std::string_view b);

/// The candidate nearest to `name`, the first of equals; empty if none is near: more than a third of the
/// letters differ (one may always), and none contains the name. One of which the name is the first word
/// ("v100" of "v100-pcie") is as near as one that differs by a letter, and preferred to it.
std::string_view nearest(std::string_view name, std::span<const std::string_view> candidates);

/// " (did you mean --memory?)", with `prefix` "--"; empty if nothing is near.
std::string did_you_mean(std::string_view name, std::span<const std::string_view> candidates,
                         std::string_view prefix = {});

}  // namespace fairlead
