// Workers that might cost more than they bring: slow ones and badly connected ones beside better ones, cores beside
// accelerators, and some of many that are alike. Whether they do is found by playing without them.
#pragma once
#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "policy/view.hpp"

namespace fairlead::schedule::rehearsed {

inline constexpr std::size_t most_dispensable = 3;

/// Sets of workers, as `without:workers=` has them; empty where few are there and all alike.
std::vector<std::string> dispensable(const View& view, std::span<Task* const> tasks);

}  // namespace fairlead::schedule::rehearsed
