// See <fairlead/ranks.hpp>.
#include <fairlead/ranks.hpp>

#include "net/local/exchange.hpp"

namespace fairlead {

std::vector<Rank> ranks_in_process(std::uint32_t count) {
  const auto exchange = std::make_shared<net::Exchange>(count);
  std::vector<Rank> ranks;
  for (std::uint32_t i = 0; i < count; ++i)
    ranks.push_back({std::make_shared<net::LocalRank>(exchange, net::RankId{i})});
  return ranks;
}

}  // namespace fairlead
