// Looks up buckets, and sorts them for each kind of worker.
#include "schedule/heteroprio/buckets.hpp"

#include <algorithm>
#include <limits>
#include <utility>

#include "schedule/heteroprio/access_order.hpp"

namespace fairlead::schedule::heteroprio {

AccessArray access_array(WorkerKind kind, std::span<const Bucket> buckets,
                         const HeteroprioSettings& settings) {
  // Sort by the user's order first, then by advantage.
  using Key = std::pair<std::size_t, double>;
  std::vector<Key> keys(buckets.size());
  AccessArray result;
  result.priorities.assign(buckets.size(), no_priority);
  for (std::uint32_t b = 0; b < buckets.size(); ++b) {
    if (((buckets[b].kinds >> index(kind)) & 1u) == 0) continue;
    if (const auto place = settings.place(kind, buckets[b].codelet); place.has_value())
      keys[b] = {*place, 0};
    else
      keys[b] = {std::numeric_limits<std::size_t>::max(),
                 -relative_speedup(buckets[b].speedup(), kind, buckets[b].kinds)};
    result.order.push_back(b);
  }
  std::ranges::stable_sort(result.order, {}, [&](std::uint32_t b) { return keys[b]; });
  std::int32_t priority = -1;
  const Key* before = nullptr;
  for (const std::uint32_t b : result.order) {
    if (before == nullptr || *before < keys[b]) ++priority;
    before = &keys[b];
    result.priorities[b] = priority;
  }
  return result;
}

std::uint32_t Buckets::at(std::string_view codelet, std::uint64_t hash, std::uint32_t kinds) {
  const auto found = std::ranges::find_if(buckets_, [&](const Bucket& bucket) {
    return bucket.hash == hash && bucket.kinds == kinds && bucket.codelet == codelet;
  });
  if (found != buckets_.end()) return static_cast<std::uint32_t>(found - buckets_.begin());
  if (buckets_.size() >= most_buckets && !codelet.empty()) return at("", 0, kinds);
  Bucket& made = buckets_.emplace_back();
  made.codelet = codelet;
  made.hash = hash;
  made.kinds = kinds;
  if (const SpeedupFactor* factor = settings_.factor(codelet)) {
    made.given.emplace();
    made.given->fastest = factor->fastest;
    made.given->over.fill(factor->factor);
  }
  return static_cast<std::uint32_t>(buckets_.size() - 1);
}

}  // namespace fairlead::schedule::heteroprio
