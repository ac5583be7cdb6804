// Writes down the two stages of Bramas 2019, "Memory node subgroups".
#include "schedule/heteroprio/access_order.hpp"

#include <algorithm>

namespace fairlead::schedule::heteroprio {

std::vector<Visit> access_order(std::span<const std::uint32_t> buckets, Column own,
                                std::span<const double> distances, Reach reach) {
  std::vector<Column> others;
  for (Column m = 0; m < distances.size(); ++m)
    if (m != own) others.push_back(m);
  std::ranges::stable_sort(others, {}, [&](Column m) { return distances[m]; });
  const auto close = std::span(others).first(std::min(reach.subgroups, others.size()));
  const auto far = std::span(others).subspan(close.size());

  std::vector<Visit> order;
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
