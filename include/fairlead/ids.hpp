// Identifiers of tasks, data, memory nodes, workers and links. Each is a distinct type, so that one cannot be passed in
// place of another.
#pragma once
#include <cstddef>
#include <cstdint>
#include <limits>
#include <type_traits>

namespace fairlead {

enum class TaskId : std::uint64_t {};    ///< in order of submission, from 0
enum class DatumId : std::uint32_t {};   ///< from 0; reused after the datum is removed
enum class NodeId : std::uint16_t {};    ///< a memory node: a place where data can reside
enum class WorkerId : std::uint16_t {};  ///< a worker runs one task at a time
enum class LinkId : std::uint16_t {};    ///< the channel that copies between two nodes share

template <class Id>
concept IsId = std::is_same_v<Id, TaskId> || std::is_same_v<Id, DatumId> || std::is_same_v<Id, NodeId> ||
    std::is_same_v<Id, WorkerId> || std::is_same_v<Id, LinkId>;

/// The id as an index into a table.
template <IsId Id>
constexpr std::size_t index(Id id) noexcept {
  return static_cast<std::size_t>(id);
}

/// The value of each id type that means "none".
template <IsId Id>
inline constexpr Id no_id = static_cast<Id>(std::numeric_limits<std::underlying_type_t<Id>>::max());

using Bytes = std::uint64_t;

}  // namespace fairlead
