// Unneeded workers: sets of workers that may cost more than they contribute. These are slow or badly connected
// accelerators, cores next to accelerators, and half of many equal accelerators. Simulations without them decide
// whether they do.
#pragma once
#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "policy/view.hpp"

namespace fairlead::schedule::what_if {

inline constexpr std::size_t max_unneeded_sets = 3;

/// Sets of workers, in the format of `without:workers=`.
struct UnneededWorkers {
  std::vector<std::string> slower;     ///< slower than others; empty if all are alike
  std::vector<std::string> redundant;  ///< half of the best ones, if these are many
};
UnneededWorkers find_unneeded_workers(const View& view, std::span<Task* const> tasks);

}  // namespace fairlead::schedule::what_if
