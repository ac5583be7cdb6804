// Measurements of the machine from earlier runs: link bandwidths and task durations. Failures here never fail a run;
// they are reported by a line on standard error.
#pragma once
#include <fairlead/config.hpp>

#include <optional>

#include "front/runtime/kept_measurements.hpp"
#include "machine/machine.hpp"

namespace fairlead::front {

class MachineProfile {
 public:
  /// The settings `cache-directory` and `keep-durations` select what is read, and from which directory.
  MachineProfile(const Config& config, const machine::Machine& machine);

  const model::KeptDurations& durations() const noexcept { return kept_.facts.durations; }
  const model::KeptLinks& links() const noexcept { return kept_.facts.links; }
  /// Sets measured bandwidths of links; the bandwidth limit of the disk still applies.
  void use_links(Topology& topology) const;
  /// Stores the durations of a model that started with durations() and has learned more since.
  void keep(const model::KeptDurations& learned) const noexcept;

 private:
  KeptMeasurements kept_;
  std::optional<double> disk_cap_;  // bytes per second
  bool keep_durations_;
};

}  // namespace fairlead::front
