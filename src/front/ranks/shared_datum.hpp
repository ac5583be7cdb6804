// A datum shared by all ranks, as one rank sees it while all walk through the same tasks in the same order: its owner,
// its last writer, and the location of its newest value on this rank. All of it follows from the program, without
// communication (docs/design.md).
#pragma once
#include <fairlead/ids.hpp>

#include <cstdint>
#include <vector>

#include "engine/registered_datum.hpp"
#include "net/names.hpp"

namespace fairlead::front {

/// For the program's thread.
struct SharedDatum {
  std::uint32_t number = 0;   ///< equal on all ranks
  std::uint32_t version = 0;  ///< number of writes by tasks
  net::RankId owner = net::no_rank;
  net::RankId last_writer = net::no_rank;  ///< the rank that has written it last, or the owner
  engine::RegisteredDatum* local =
      nullptr;  ///< has the newest value on this rank, now or later; null: not on this rank
  engine::RegisteredDatum* home = nullptr;  ///< on the owner rank; null elsewhere
  bool touched = false;                ///< another rank has or had the value since the last wait of all ranks
  std::uint64_t sending = 0;           ///< number of the sending of the newest value to other ranks; 0: none
  std::vector<net::RankId> receivers;  ///< ranks that got the newest value from this rank, or will get it
  Bytes bytes = 0;
  engine::RegisteredDatum* handle_target = nullptr;  ///< the descriptor that handles on this rank point to
};

/// Null: the datum is local to this rank.
inline SharedDatum* shared_of(const engine::RegisteredDatum& datum) noexcept {
  return static_cast<SharedDatum*>(datum.shared);
}

}  // namespace fairlead::front
