// Workers that might cost more than they bring: slow ones and badly connected ones beside better ones, and cores beside
// accelerators. Whether they do is found by playing without them.
#pragma once
#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "policy/view.hpp"

namespace fairlead::schedule::rehearsed {

inline constexpr std::size_t most_dispensable = 3;

/// Sets of workers, as `without:workers=` has them; empty where all are alike.
std::vector<std::string> dispensable(const View& view, std::span<Task* const> tasks);

}  // namespace fairlead::schedule::rehearsed
