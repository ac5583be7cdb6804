// Eq. 10 and 11 of Bramas 2019, and the two stages of its "Memory node subgroups".
#include "schedule/heteroprio/access_order.hpp"

#include <algorithm>
#include <cstdlib>

namespace fairlead::schedule::heteroprio {

double priority_distance(std::span<const std::int32_t> i, std::span<const std::int32_t> j) noexcept {
  const std::size_t buckets = std::max(i.size(), j.size());
  const auto of = [&](std::span<const std::int32_t> p, std::size_t k) {
    const std::size_t lacks = buckets - p.size();
    return k < lacks ? 0 : std::max(p[k - lacks], 0);
  };
  std::int64_t sum = 0, highest = 0;
  for (std::size_t k = 0; k < buckets; ++k) {
    sum += std::abs(of(i, k) - of(j, k));
    highest = std::max<std::int64_t>(highest, std::max(of(i, k), of(j, k)));
  }
  const auto np = static_cast<double>(highest + 1);
  return 1 - static_cast<double>(sum) / ((np + 1) * (np + 2) / 2);
}

std::vector<double> transfer_distances(const View& view) {
  constexpr Bytes moved = Bytes{1} << 30;
  std::vector<double> result;
  for (const NodeInfo& i : view.nodes())
    for (const NodeInfo& j : view.nodes())
      result.push_back(i.id == j.id ? 0 : static_cast<double>(view.transfer_time(moved, j.id, i.id).count()));
  const double longest = result.empty() ? 0 : *std::ranges::max_element(result);
  if (longest > 0)
    for (double& distance : result) distance /= longest;
  return result;
}

std::vector<ListId> access_order(std::span<const std::uint32_t> buckets, Column own,
                                 std::span<const double> distances, LocalityRange reach) {
  std::vector<Column> others;
  for (Column m = 0; m < distances.size(); ++m)
    if (m != own) others.push_back(m);
  std::ranges::stable_sort(others, {}, [&](Column m) { return distances[m]; });
  const auto close = std::span(others).first(std::min(reach.subgroups, others.size()));
  const auto far = std::span(others).subspan(close.size());

  std::vector<ListId> order;
  order.reserve(buckets.size() * distances.size());
  for (std::size_t from = 0; from < buckets.size();) {
    const auto chunk = buckets.subspan(from, std::min(reach.lambda, buckets.size() - from));
    for (const std::uint32_t b : chunk) order.push_back({b, own});
    for (const std::uint32_t b : chunk)
      for (const Column m : close) order.push_back({b, m});
    from += chunk.size();
  }
  for (const std::uint32_t b : buckets)
    for (const Column m : far) order.push_back({b, m});
  return order;
}

}  // namespace fairlead::schedule::heteroprio
