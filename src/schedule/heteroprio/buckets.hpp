// Buckets of tasks of one codelet, and the order in which each kind of worker visits them: its access array. Bramas
// 2019, "Multi-priorities".
//
// All kinds of worker that visit a bucket can run its tasks; tasks of the same codelet for other kinds are in another
// bucket. Where the user gives no order, a kind visits first what it is best at: the fast kind starts with the highest
// speedup, the slow one with the lowest, and both with tasks that no other kind can run.
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
  std::uint64_t hash = 0;        ///< of the codelet's name
  std::uint32_t kinds = 0;       ///< bit k: workers of kind k visit it
  std::size_t waiting = 0;       ///< number of tasks in it
  std::optional<Speedup> given;  ///< given by the user
  SpeedupEstimate found;

  const Speedup& speedup() const noexcept { return given.has_value() ? *given : found.speedup(); }
};

/// The access array of one kind of worker.
struct AccessArray {
  std::vector<std::uint32_t> order;      ///< positions of the buckets that it visits
  std::vector<std::int32_t> priorities;  ///< by bucket: 0 first; no_priority if it does not visit the bucket
};
/// Buckets of equal priority are visited in order of creation.
AccessArray access_array(WorkerKind kind, std::span<const Bucket> buckets,
                         const HeteroprioSettings& settings);

class Buckets {
 public:
  explicit Buckets(HeteroprioSettings settings) : settings_(std::move(settings)) {}

  const HeteroprioSettings& settings() const noexcept { return settings_; }
  std::span<Bucket> list() noexcept { return buckets_; }
  std::span<const Bucket> list() const noexcept { return buckets_; }

  /// The limit on codelets with buckets of their own, counted separately for each set of kinds. Later codelets of the
  /// same kinds share a bucket.
  static constexpr std::size_t most_buckets = 256;

  /// The position of the bucket, which is created if it does not exist.
  std::uint32_t at(std::string_view codelet, std::uint64_t hash, std::uint32_t kinds);

 private:
  HeteroprioSettings settings_;
  std::vector<Bucket> buckets_;  // in order of creation
};

}  // namespace fairlead::schedule::heteroprio
