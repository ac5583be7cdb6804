// The list of data with a home in user memory whose newest version may be elsewhere. Such data exist only if some
// workers do not reach user memory.
#pragma once
#include <cstdint>
#include <utility>
#include <vector>

#include "machine/topology.hpp"
#include "memory/datum_table.hpp"

namespace fairlead::memory {

class StaleHomes {
 public:
  explicit StaleHomes(const Topology& topology) {
    std::uint64_t by_all = ~std::uint64_t{0};
    const auto reached = [&](NodeId node) {
      std::uint64_t homes = 0;
      for (const NodeId home : topology.nodes[index(node)].directly_accessible_homes)
        homes |= std::uint64_t{1} << index(home);
      return homes;
    };
    for (std::size_t i = 0; i < topology.nodes.size(); ++i) homes_ |= reached(static_cast<NodeId>(i));
    for (const WorkerSpec& worker : topology.workers) by_all &= reached(worker.node);
    homes_ &= ~by_all;
  }

  /// True if any home in user memory is out of reach of some worker.
  bool possible() const noexcept { return homes_ != 0; }
  /// Reserves space in the list for a new datum.
  void added(const Datum& datum) {
    if (concerns(datum) && ++data_ > listed_.capacity()) listed_.reserve(2 * data_);
  }
  void removed(Datum& datum) noexcept {
    data_ -= concerns(datum);
    if (std::exchange(datum.listed_away.write(), false)) std::erase(listed_, datum.home.datum);
  }
  /// Notes that the datum was written in another node than its home.
  void note(Datum& datum) noexcept {
    if (datum.listed_away || !concerns(datum)) return;
    datum.listed_away = true;
    listed_.push_back(datum.home.datum);  // added() reserved the space
  }
  /// The data whose home is out of date and that no task is changing. Data with a postponed refresh are included only
  /// if `put_off_too`.
  std::vector<DatumId> stale_homes(DatumTable& data, bool put_off_too) {
    std::vector<DatumId> away;
    away.reserve(listed_.size());
    std::erase_if(listed_, [&](DatumId id) {
      Datum& datum = data[id];
      datum.listed_away = datum.dirty();
      if (datum.dirty() && datum.writers == 0 && (put_off_too || !datum.refresh_put_off)) away.push_back(id);
      return !datum.dirty();
    });
    return away;
  }

 private:
  bool concerns(const Datum& datum) const noexcept {
    return !datum.is_partial && (homes_ >> index(datum.home.node) & 1) != 0;
  }

  std::uint64_t homes_ = 0;      // bit k: home node k is in user memory and some worker does not reach it
  std::vector<DatumId> listed_;  // may be out of date at home; each once. Capacity suffices for all such data
  std::size_t data_ = 0;         // registered data with such a home
};

}  // namespace fairlead::memory
