// Runs of graphs that have begun on a rank, and what room they leave together.
#pragma once
#include <algorithm>
#include <cstdint>
#include <optional>
#include <unordered_map>

#include "net/gate.hpp"
#include "net/names.hpp"
#include "net/protocol.hpp"

namespace fairlead::net {

/// By graph: the last one that began.
class Runs {
 public:
  struct Run {
    std::uint32_t number = 0;
    bool open = false;
    std::uint64_t fingerprint = 0;
    Room room{};
    bool gated = false;
    Gate gate{};
  };
  Run& operator[](std::uint32_t graph) { return runs_[graph]; }
  const Run& at(std::uint32_t graph) const { return runs_.at(graph); }
  auto begin() const noexcept { return runs_.begin(); }
  auto end() const noexcept { return runs_.end(); }

  bool has_begun(const GraphRun& run) const {
    const auto found = runs_.find(run.graph);
    return found != runs_.end() && found->second.number == run.run;
  }
  bool is_stale(const GraphRun& run) const {
    const auto found = runs_.find(run.graph);
    if (found == runs_.end()) return false;
    return run.run < found->second.number || (run.run == found->second.number && !found->second.open);
  }
  /// What comes and goes for one run takes place from the tasks of another: the one that leaves least decides. Nothing if
  /// none is open.
  std::optional<Room> room() const {
    std::optional<Room> least;
    for (const auto& [graph, run] : runs_) {
      if (!run.open || (least && run.room.yields && !least->yields)) continue;
      if (!least || (least->yields && !run.room.yields)) {
        least = run.room;
        continue;
      }
      least->visitors = std::min(least->visitors, run.room.visitors);
      least->offered = std::min(least->offered, run.room.offered);
    }
    return least;
  }

 private:
  std::unordered_map<std::uint32_t, Run> runs_;
};

}  // namespace fairlead::net
