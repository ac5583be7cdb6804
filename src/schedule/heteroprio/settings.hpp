// What a user may say of an application to heteroprio and laheteroprio; whatever is left out, the policy
// finds out itself. Bramas 2019, "Multi-priorities" and "Speedup factors"; the locality is that of
// LAHeteroprio.
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

/// Something for each kind of worker.
template <class T>
using ByKind = std::array<T, worker_kind_count>;

/// Codelets, by name, in the order in which workers of one kind look for their tasks; those of one group have
/// the same priority. What is in no group comes after them.
using KindOrder = std::vector<std::vector<std::string>>;

/// Workers of `fastest` run the codelet `factor` times as fast as the others do.
struct SpeedupFactor {
  std::string codelet;
  WorkerKind fastest{};
  double factor = 1;
};

/// What makes LAHeteroprio of Heteroprio.
struct Locality {
  std::optional<Affinity> affinity;  ///< none: chosen by best-node difference
  ByKind<Reach> reach{};
  double alpha = 0.5;  ///< of Eq. 12
  double theta = default_theta;
};

struct Settings {
  std::string policy = "heteroprio";  ///< for messages
  ByKind<KindOrder> orders;           ///< empty: found
  std::vector<SpeedupFactor> factors;
  std::optional<Locality> locality;  ///< none: one list for each bucket

  /// Throws ConfigError if workers would wait for others that do not come: the fastest kind of a codelet has
  /// an order that does not name it. Also for a codelet that is named twice, or, where orders are given, only
  /// by a factor.
  void check() const;

  const SpeedupFactor* factor(std::string_view codelet) const noexcept;
  /// The codelet's place in the order of the kind; none if it is not named there.
  std::optional<std::size_t> place(WorkerKind kind, std::string_view codelet) const noexcept;
};

/// What is written behind the name. Throws ConfigError for what cannot be understood.
Settings read_settings(const PolicyOptions& options, bool with_locality);
/// The locality that laheteroprio has if nothing is said.
Locality default_locality();

}  // namespace heteroprio
}  // namespace fairlead::schedule
