// The options of heteroprio and laheteroprio, which describe an application; the policy estimates those that are not
// set. Bramas 2019, "Multi-priorities" and "Speedup factors"; Locality applies to LAHeteroprio only.
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <fairlead/worker_kind.hpp>
#include "policy/policy_options.hpp"
#include "schedule/heteroprio/access_order.hpp"
#include "schedule/heteroprio/affinity.hpp"

namespace fairlead::schedule {

inline constexpr std::array heteroprio_options{
    PolicyOption{"cpu", "found", "codelets in the order in which cores look for them: potrf/trsm+syrk/gemm"},
    PolicyOption{"emulated", "found", "the same for emulated accelerators"},
    PolicyOption{"cuda", "found", "the same for CUDA devices"},
    PolicyOption{"opencl", "found", "the same for OpenCL devices"},
    PolicyOption{"speedup", "found", "CODELET@FASTEST@FACTOR: gemm@cuda@12/trsm@cpu@2"},
};
inline constexpr std::array laheteroprio_options{
    heteroprio_options[0],
    heteroprio_options[1],
    heteroprio_options[2],
    heteroprio_options[3],
    heteroprio_options[4],
    PolicyOption{"affinity", "auto", "which node a task suits: laru, mc, sdh, sdh2, sdhb, smwb, or auto"},
    PolicyOption{"lambda", "cpu@2/others@all", "buckets looked at before going to the next nodes"},
    PolicyOption{"subgroups", "cpu@all/others@1", "how many other nodes are close"},
    PolicyOption{"alpha", "0.5", "weight of priorities in the distance of nodes, from 0 to 1"},
    PolicyOption{"theta", "1000", "weight of written data in sdhb"},
};

namespace heteroprio {

constexpr std::size_t index(WorkerKind kind) noexcept { return static_cast<std::size_t>(kind); }

/// One value for each kind of worker.
template <class T>
using ByKind = std::array<T, worker_kind_count>;

/// Codelet names in the order in which workers of one kind look for tasks; the codelets of a group have equal priority.
/// Codelets in no group come last.
using KindOrder = std::vector<std::vector<std::string>>;

/// Workers of `fastest` run the codelet `factor` times as fast as the others do.
struct SpeedupFactor {
  std::string codelet;
  WorkerKind fastest{};
  double factor = 1;
};

/// The parameters that LAHeteroprio adds to Heteroprio.
struct Locality {
  std::optional<Affinity> affinity;  ///< none: selected by best memory node difference
  ByKind<LocalityRange> reach{};
  double alpha = 0.5;  ///< of Eq. 12
  double theta = default_theta;
};

struct HeteroprioSettings {
  std::string policy = "heteroprio";  ///< for messages
  ByKind<KindOrder> orders;           ///< empty: by estimated speedup
  std::vector<SpeedupFactor> factors;
  std::optional<Locality> locality;  ///< none: one list for each bucket

  /// Throws ConfigError if workers would wait forever: the fastest kind of a codelet has an order that does not name
  /// it. Also throws if a codelet occurs twice, or if orders are given and only a factor names the codelet.
  void check() const;

  const SpeedupFactor* factor(std::string_view codelet) const noexcept;
  /// The position of the codelet in the kind's order; none if the order does not name it.
  std::optional<std::size_t> place(WorkerKind kind, std::string_view codelet) const noexcept;
};

/// Parses the options. Throws ConfigError if they are invalid.
HeteroprioSettings read_settings(const PolicyOptions& options, bool with_locality);
/// The default locality of laheteroprio.
Locality default_locality();

}  // namespace heteroprio
}  // namespace fairlead::schedule
