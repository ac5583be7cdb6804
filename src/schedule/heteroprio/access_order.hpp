// The order in which workers visit the lists of the grid of buckets and memory nodes.
//
// The distance of two nodes is small if their link is fast and their workers prefer different buckets. Bramas 2019,
// "Distance between memory nodes", Eq. 10-12 and Table 2. The paper states that Eq. 11 is 0 for equal priorities; its
// fraction is 0, so the distance is 1. The code follows the equation.
//
// The order: Bramas 2019, "Memory node subgroups" and Table 3: lambda buckets of the own node, the same buckets of the
// S closest nodes, the next lambda buckets, and so on; then all other nodes, bucket by bucket.
//
// Within a group of several nodes, buckets are the outer loop: only this reproduces Table 3. Equally distant nodes are
// visited in the order of View::nodes().
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

/// Eq. 11. One priority for each bucket, 0 first; a shorter list lacks the first buckets. NP is the highest priority
/// plus one: only this reproduces Table 2.
double priority_distance(std::span<const std::int32_t> i, std::span<const std::int32_t> j) noexcept;

/// Eq. 10 for all pairs of nodes, row by row: the time of a transfer of 1024^3 bytes from j to i, divided by the
/// longest such time.
std::vector<double> transfer_distances(const View& view);

/// Eq. 12.
constexpr double node_distance(double by_priority, double by_transfer, double alpha) noexcept {
  return by_priority * alpha + by_transfer * (1 - alpha);
}

/// One list of the grid, as a step of a worker's visits.
struct ListId {
  std::uint32_t bucket = 0;
  Column column = 0;
  bool operator==(const ListId&) const = default;
};

inline constexpr std::size_t unlimited = ~std::size_t{0};

/// The locality parameters of one kind of worker.
struct LocalityRange {
  std::size_t lambda = unlimited;     ///< number of buckets visited before other nodes; at least 1
  std::size_t subgroups = unlimited;  ///< S: the number of close nodes
  bool operator==(const LocalityRange&) const = default;
};

/// `buckets`: those that the worker visits, in its order. `distances`: from its node `own` to each node.
std::vector<ListId> access_order(std::span<const std::uint32_t> buckets, Column own,
                                 std::span<const double> distances, LocalityRange reach);

}  // namespace fairlead::schedule::heteroprio
