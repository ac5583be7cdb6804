// In which order workers look into the lists of the grid, buckets by memory nodes.
//
// How far apart two nodes are: near if they are well connected and their workers prefer different buckets.
// Bramas 2019, "Distance between memory nodes", Eq. 10-12 and Table 2. The paper says of Eq. 11 that it is 0
// for equal priorities; the fraction is, the distance is then 1. Built is the equation.
//
// The order: Bramas 2019, "Memory node subgroups" and Table 3: lambda buckets of the own node, the same ones
// of the S closest nodes, the next lambda buckets, and so on; then all other nodes, bucket after bucket.
//
// Inside a group of several nodes buckets are the outer loop: only that gives Table 3. Nodes that are equally
// far come in their own order.
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "policy/view.hpp"
#include "schedule/heteroprio/affinity.hpp"

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

/// One list of the grid.
struct Visit {
  std::uint32_t bucket = 0;
  Column column = 0;
  bool operator==(const Visit&) const = default;
};

inline constexpr std::size_t all_of_them = ~std::size_t{0};

/// The locality of one kind of worker.
struct Reach {
  std::size_t lambda = all_of_them;     ///< buckets that are looked at in a row; at least 1
  std::size_t subgroups = all_of_them;  ///< S: how many nodes are close
  bool operator==(const Reach&) const = default;
};

/// `buckets`: those that the worker visits, in its order. `distances`: from its node, `own`, to each.
std::vector<Visit> access_order(std::span<const std::uint32_t> buckets, Column own,
                                std::span<const double> distances, Reach reach);

}  // namespace fairlead::schedule::heteroprio
