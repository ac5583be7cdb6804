// In which order workers look into the lists of the grid, buckets by memory nodes. Bramas 2019, "Memory node
// subgroups" and Table 3: lambda buckets of the own node, the same ones of the S closest nodes, the next
// lambda buckets, and so on; then all other nodes, bucket after bucket.
//
// Inside a group of several nodes buckets are the outer loop: only that gives Table 3. Nodes that are equally
// far come in their own order.
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "schedule/heteroprio/affinity.hpp"

namespace fairlead::schedule::heteroprio {

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
