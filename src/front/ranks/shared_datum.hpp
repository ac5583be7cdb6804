// A datum that all ranks know, as one of them sees it while each walks through the same tasks in the same order: whose it
// is, who has written it last, and where its newest value is on this rank. All of it follows from the program alone, so
// nobody asks anybody (docs/design.md).
#pragma once
#include <fairlead/ids.hpp>

#include <cstdint>
#include <vector>

#include "engine/registered_datum.hpp"
#include "net/names.hpp"

namespace fairlead::front {

/// The program's thread's.
struct SharedDatum {
  std::uint32_t number = 0;   ///< the same on all ranks
  std::uint32_t version = 0;  ///< how often tasks have written it
  net::RankId owner = net::no_rank;
  net::RankId holder = net::no_rank;  ///< who has written it last, or the owner
  engine::RegisteredDatum* here =
      nullptr;  ///< where its newest value is on this rank, or will be; null: it is not here
  engine::RegisteredDatum* home = nullptr;  ///< the owner's; elsewhere null
  bool touched = false;       ///< somebody else has it, or has had it, since all ranks waited together
  std::uint64_t sending = 0;  ///< the newest value goes to others under this number; 0: it does not
  std::vector<net::RankId> given_to;  ///< who else has the newest value from here, or will get it
  Bytes bytes = 0;
  engine::RegisteredDatum* named = nullptr;  ///< what handles of it name on this rank
};

/// Null: each rank has one of its own.
inline SharedDatum* shared_of(const engine::RegisteredDatum& datum) noexcept {
  return static_cast<SharedDatum*>(datum.shared);
}

}  // namespace fairlead::front
