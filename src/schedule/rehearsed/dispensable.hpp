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

/// Sets of workers, as `without:workers=` has them.
struct Dispensable {
  std::vector<std::string> worse;    ///< than others; empty where all are alike
  std::vector<std::string> surplus;  ///< half of the best ones, where these are many
};
Dispensable dispensable(const View& view, std::span<Task* const> tasks);

}  // namespace fairlead::schedule::rehearsed
