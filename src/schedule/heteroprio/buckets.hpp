// Buckets of tasks of one codelet, and in which order each kind of worker looks into them: its access array.
// Bramas 2019, "Multi-priorities".
//
// A bucket holds tasks that all kinds of worker that visit it can run: tasks of one codelet that other kinds
// can run are in another bucket. What no user has ordered is visited by what a kind is best at: the fast kind
// begins with the highest speedup, the slow one with the lowest, both with what nobody else can run.
#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "schedule/heteroprio/settings.hpp"
#include "schedule/heteroprio/speedup.hpp"

namespace fairlead::schedule::heteroprio {

struct Bucket {
  std::string codelet;
  std::uint64_t hash = 0;        ///< of its name
  std::uint32_t kinds = 0;       ///< bit k: workers of kind k visit it
  std::size_t waiting = 0;       ///< tasks in it
  std::optional<Speedup> given;  ///< by the user
  SpeedupEstimate found;

  const Speedup& speedup() const noexcept { return given.has_value() ? *given : found.speedup(); }
};

/// Of one kind of worker.
struct AccessArray {
  std::vector<std::uint32_t> order;      ///< the buckets that it visits, by position
  std::vector<std::int32_t> priorities;  ///< by bucket: 0 first; no_priority where it does not go
};
/// Of equal priority is first what came first.
AccessArray access_array(WorkerKind kind, std::span<const Bucket> buckets, const Settings& settings);

class Buckets {
 public:
  explicit Buckets(Settings settings) : settings_(std::move(settings)) {}

  const Settings& settings() const noexcept { return settings_; }
  std::span<Bucket> list() noexcept { return buckets_; }
  std::span<const Bucket> list() const noexcept { return buckets_; }

  /// So many codelets have buckets of their own, counted by the kinds that can run them. Later ones that the
  /// same kinds can run share one.
  static constexpr std::size_t most_buckets = 256;

  /// The position of the bucket, which is made if there is none.
  std::uint32_t at(std::string_view codelet, std::uint64_t hash, std::uint32_t kinds);

 private:
  Settings settings_;
  std::vector<Bucket> buckets_;  // in the order in which their first tasks came
};

}  // namespace fairlead::schedule::heteroprio
