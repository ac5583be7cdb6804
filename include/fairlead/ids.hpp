// Names for things, as types: a worker's number cannot be passed where a node's is meant.
#pragma once
#include <cstddef>
#include <cstdint>
#include <limits>
#include <type_traits>

namespace fairlead {

enum class TaskId : std::uint64_t {};    ///< in order of submission, from 0
enum class DatumId : std::uint32_t {};   ///< from 0; that of a datum that is gone is given to another
enum class NodeId : std::uint16_t {};    ///< a memory node: a place data can be
enum class WorkerId : std::uint16_t {};  ///< a thing that runs one task at a time
enum class LinkId : std::uint16_t {};    ///< what copies between two nodes share

template <class Id>
concept IsId = std::is_same_v<Id, TaskId> || std::is_same_v<Id, DatumId> || std::is_same_v<Id, NodeId> ||
    std::is_same_v<Id, WorkerId> || std::is_same_v<Id, LinkId>;

/// The position that an id names in a table.
template <IsId Id>
constexpr std::size_t index(Id id) noexcept {
  return static_cast<std::size_t>(id);
}

/// "None", for every kind of id.
template <IsId Id>
inline constexpr Id no_id = static_cast<Id>(std::numeric_limits<std::underlying_type_t<Id>>::max());

using Bytes = std::uint64_t;

}  // namespace fairlead
