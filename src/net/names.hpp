// Names that ranks use in messages. They follow from the program, so that all ranks have the same ones without
// communication.
#pragma once
#include <compare>
#include <cstddef>
#include <cstdint>
#include <limits>

#include "base/random.hpp"

namespace fairlead::net {

/// A process of a distributed run, from 0.
enum class RankId : std::uint32_t {};
inline constexpr RankId no_rank{std::numeric_limits<std::uint32_t>::max()};
constexpr std::size_t index(RankId rank) noexcept { return static_cast<std::size_t>(rank); }

/// A run of a graph. Graphs are numbered in the order in which the program makes them, runs from 0.
struct GraphRun {
  std::uint32_t graph = 0, run = 0;
  friend constexpr auto operator<=>(const GraphRun&, const GraphRun&) = default;
};

/// A value: an output of a task in a run.
struct ValueName {
  GraphRun of;
  std::uint64_t task = 0;  ///< the task's number in the graph
  std::uint8_t output = 0;
  friend constexpr auto operator<=>(const ValueName&, const ValueName&) = default;
};

struct HashOfName {
  std::size_t operator()(const ValueName& name) const noexcept {
    const std::uint64_t run = std::uint64_t{name.of.graph} << 32 | name.of.run;
    return Random::mix(Random::mix(run) ^ Random::mix(name.task * 64 + name.output));
  }
};

/// Limit of a task's outputs: the bits of a mask.
inline constexpr std::size_t most_outputs = 64;

}  // namespace fairlead::net
