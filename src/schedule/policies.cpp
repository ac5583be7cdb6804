// The one list of policies. A new policy is one file and one line here.
#include "schedule/policies.hpp"

#include <fmt/format.h>
#include <fairlead/error.hpp>

#include <algorithm>
#include <array>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "schedule/ap.hpp"
#include "schedule/blocks/blocks.hpp"
#include "schedule/darts/darts.hpp"
#include "schedule/darts/darts_ahead.hpp"
#include "schedule/dmda.hpp"
#include "schedule/eager.hpp"
#include "schedule/lws.hpp"

namespace fairlead::schedule {
namespace {

constexpr std::array list = {
    PolicyEntry{"eager", "first come, first served, from one queue", make_eager},
    PolicyEntry{"lws", "locality work stealing: queues by priority where tasks were released", make_lws},
    PolicyEntry{"dmda", "where a task is expected to be over first, transfers included", make_dmda},
    PolicyEntry{"dmdas", "dmda by priority, and what misses the fewest bytes first", make_dmdas},
    PolicyEntry{"ap", "one queue by bottom level: the critical path first", make_ap},
    PolicyEntry{"ap-dplasma", "one queue by the priorities of DPLASMA's Cholesky factorization",
                make_ap_dplasma},
    PolicyEntry{"darts", "data first: loads what enables most work, evicts what plans use least", make_darts},
    PolicyEntry{"darts-belady", "darts, evicting what its plans use last", make_darts_belady},
    PolicyEntry{"darts-chain", "darts, weighing a tile by all its updates that could run", make_darts_chain},
    PolicyEntry{"darts-defer", "darts, loading a tile only when two updates could run", make_darts_defer},
    PolicyEntry{"blocks", "plans sets of tiles whose updates run back to back, evicts by the plan",
                make_blocks},
};

/// Insertions, deletions and replacements that make one word of the other.
std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 0; i < a.size(); ++i) {
    std::size_t diagonal = std::exchange(row[0], i + 1);
    for (std::size_t j = 0; j < b.size(); ++j) {
      const std::size_t replaced = diagonal + (a[i] == b[j] ? 0 : 1);
      diagonal = row[j + 1];
      row[j + 1] = std::min({replaced, diagonal + 1, row[j] + 1});
    }
  }
  return row.back();
}

}  // namespace

std::span<const PolicyEntry> policies() { return list; }

std::unique_ptr<Policy> make_policy(std::string_view name) {
  const auto found = std::ranges::find(list, name, &PolicyEntry::name);
  if (found != list.end()) return found->make();

  const auto nearest =
      std::ranges::min_element(list, {}, [&](const PolicyEntry& e) { return edit_distance(name, e.name); });
  std::string known;
  for (const PolicyEntry& entry : list) known += fmt::format("{}{}", known.empty() ? "" : ", ", entry.name);
  throw ConfigError(
      fmt::format("unknown scheduler \"{}\" (did you mean \"{}\"?); known: {}", name, nearest->name, known));
}

std::string_view default_policy(bool fits) noexcept { return fits ? "lws" : "blocks"; }

}  // namespace fairlead::schedule
