// The runs that have started on a rank, and the memory that they leave for values in transit.
#pragma once
#include <algorithm>
#include <cstdint>
#include <optional>
#include <unordered_map>

#include "net/gate.hpp"
#include "net/names.hpp"
#include "net/protocol.hpp"

namespace fairlead::net {

/// By graph: the run that started last.
class RunRegistry {
 public:
  struct Run {
    std::uint32_t number = 0;
    bool open = false;
    std::uint64_t fingerprint = 0;
    TransitLimits room{};
    bool gated = false;
    Gate gate{};
  };
  Run& operator[](std::uint32_t graph) { return runs_[graph]; }
  const Run& at(std::uint32_t graph) const { return runs_.at(graph); }
  auto begin() const noexcept { return runs_.begin(); }
  auto end() const noexcept { return runs_.end(); }

  /// True if it is the last run of its graph that has started.
  bool has_begun(const GraphRun& run) const {
    const auto found = runs_.find(run.graph);
    return found != runs_.end() && found->second.number == run.run;
  }
  /// True if the run has ended: messages about it are ignored.
  bool is_stale(const GraphRun& run) const {
    const auto found = runs_.find(run.graph);
    if (found == runs_.end()) return false;
    return run.run < found->second.number || (run.run == found->second.number && !found->second.open);
  }
  /// Values in transit of one run take memory from tasks of another, so the smallest limits of the open runs apply.
  /// Runs that yield count only if all open runs do. Nothing if no run is open.
  std::optional<TransitLimits> room() const {
    std::optional<TransitLimits> least;
    for (const auto& [graph, run] : runs_) {
      if (!run.open || (least && run.room.yields && !least->yields)) continue;
      if (!least || (least->yields && !run.room.yields)) {
        least = run.room;
        continue;
      }
      least->in_transit = std::min(least->in_transit, run.room.in_transit);
      least->offered = std::min(least->offered, run.room.offered);
    }
    return least;
  }

 private:
  std::unordered_map<std::uint32_t, Run> runs_;
};

}  // namespace fairlead::net
