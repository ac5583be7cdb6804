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
#include "schedule/heteroprio/access_order.hpp"
#include "schedule/heteroprio/affinity.hpp"

namespace fairlead::schedule::heteroprio {

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

}  // namespace fairlead::schedule::heteroprio
