// Data in the program's own memory, which not all workers reach: their newest values may be elsewhere.
#pragma once
#include <cstdint>
#include <utility>
#include <vector>

#include "machine/topology.hpp"
#include "memory/datum_table.hpp"

namespace fairlead::memory {

class AwayList {
 public:
  explicit AwayList(const Topology& topology) {
    std::uint64_t by_all = ~std::uint64_t{0};
    const auto reached = [&](NodeId node) {
      std::uint64_t homes = 0;
      for (const NodeId home : topology.nodes[index(node)].reaches) homes |= std::uint64_t{1} << index(home);
      return homes;
    };
    for (std::size_t i = 0; i < topology.nodes.size(); ++i) homes_ |= reached(static_cast<NodeId>(i));
    for (const WorkerSpec& worker : topology.workers) by_all &= reached(worker.node);
    homes_ &= ~by_all;
  }

  /// There are such homes at all.
  bool possible() const noexcept { return homes_ != 0; }
  void added(const Datum& datum) {
    if (concerns(datum) && ++data_ > listed_.capacity()) listed_.reserve(2 * data_);
  }
  void removed(Datum& datum) noexcept {
    data_ -= concerns(datum);
    if (std::exchange(datum.listed_away.write(), false)) std::erase(listed_, datum.home.datum);
  }
  /// It was written somewhere else than at home.
  void note(Datum& datum) noexcept {
    if (datum.listed_away || !concerns(datum)) return;
    datum.listed_away = true;
    listed_.push_back(datum.home.datum);  // added() has made space
  }
  /// Those that are not up to date at home now and that no task is changing; those whose refresh is put off
  /// only if these are asked for, too.
  std::vector<DatumId> now(DatumTable& data, bool put_off_too) {
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

  std::uint64_t homes_ = 0;      // in the program's memory, where some workers do not reach it; bits
  std::vector<DatumId> listed_;  // may be away; each once. Has space for all that could be
  std::size_t data_ = 0;         // that could be
};

}  // namespace fairlead::memory
