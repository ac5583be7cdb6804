// How far apart two memory nodes are for one who looks for tasks: near if they are well connected and their
// workers prefer different ones. Bramas 2019, "Distance between memory nodes", Eq. 10-12 and Table 2.
//
// The paper says of Eq. 11 that it is 0 for equal priorities; the fraction is, the distance is then 1. Built
// is the equation.
#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "policy/view.hpp"

namespace fairlead::schedule::heteroprio {

/// The priority of a bucket that a kind of worker does not visit; it counts as 0 in Eq. 11.
inline constexpr std::int32_t no_priority = -1;

/// Eq. 11. One priority for each bucket, 0 first; where one is shorter, it lacks the first buckets. NP is the
/// highest priority and one more: only so Table 2 comes out.
double priority_distance(std::span<const std::int32_t> i, std::span<const std::int32_t> j) noexcept;

/// Eq. 10 for all pairs of nodes, row by row: how long 1024^3 bytes take from j to i, divided by the longest.
std::vector<double> transfer_distances(const View& view);

/// Eq. 12.
constexpr double node_distance(double by_priority, double by_transfer, double alpha) noexcept {
  return by_priority * alpha + by_transfer * (1 - alpha);
}

}  // namespace fairlead::schedule::heteroprio
