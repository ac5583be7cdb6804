// See random_program.hpp.
#include "graph/random_program.hpp"

#include <algorithm>
#include <array>

#include "base/random.hpp"
#include "graph/dependency_graph.hpp"

namespace fairlead::tests {

std::uint64_t contribution(std::size_t task, std::size_t datum) noexcept {
  return Random::mix(task * 1000003 + datum + 1);
}
std::uint64_t output(std::size_t task, std::size_t datum, std::uint64_t inputs) noexcept {
  return Random::mix(inputs ^ Random::mix(task + 77) ^ (datum << 32));
}
std::uint64_t mixed(std::uint64_t inputs, std::uint64_t value) noexcept {
  return Random::mix(inputs ^ value);
}

namespace {

/// The current group of one datum during the walk.
struct Turn {
  AccessMode mode = AccessMode::write;
  std::uint64_t version = 0;        // at the start of the group
  std::vector<PlannedUse*> shared;  // its members, whose `versions` grow with it
};

std::vector<PlannedUse> merged_uses(const std::vector<PlannedUse>& written) {
  std::vector<PlannedUse> uses;
  for (const PlannedUse& use : written) {
    const auto same = std::ranges::find(uses, use.datum, &PlannedUse::datum);
    if (same == uses.end()) {
      uses.push_back(use);
    } else {
      same->mode = graph::merged(same->mode, use.mode);
    }
  }
  return uses;
}

}  // namespace

RandomProgram::RandomProgram(std::uint64_t seed) {
  static constexpr std::array modes{AccessMode::read, AccessMode::write, AccessMode::read_write,
                                    AccessMode::commutative, AccessMode::reduction};
  Random random(seed * 6151 + 3);
  data = static_cast<std::size_t>(random.between(1, 30));
  window = static_cast<std::size_t>(random.between(1, 80));
  // Programs differ in how often a datum keeps its mode: long groups, or a new turn with nearly every access.
  const std::uint64_t cancel_eviction =
      random.once_in(2) ? 0 : static_cast<std::uint64_t>(random.between(2, 8));
  std::vector<AccessMode> habit(data, AccessMode::read);
  tasks.resize(static_cast<std::size_t>(random.between(20, 400)));
  for (PlannedTask& task : tasks) {
    const auto uses = random.between(1, 6);
    for (std::int64_t i = 0; i < uses; ++i) {
      const auto datum = static_cast<std::size_t>(random.below(data));
      if (cancel_eviction == 0 || random.once_in(cancel_eviction))
        habit[datum] = modes[random.below(modes.size())];
      task.written.push_back({.datum = datum, .mode = habit[datum]});
    }
    task.uses = merged_uses(task.written);
  }

  final_versions.assign(data, 0);
  final_values.assign(data, 0);
  std::vector<Turn> turns(data);
  for (std::size_t t = 0; t < tasks.size(); ++t) {
    std::uint64_t inputs = 0;
    for (PlannedUse& use : tasks[t].uses) {
      Turn& turn = turns[use.datum];
      if (turn.mode != use.mode || !may_share(use.mode)) turn = {use.mode, final_versions[use.datum], {}};
      use.version = turn.version;
      use.value = final_values[use.datum];
      if (in_any_order(use.mode)) {
        turn.shared.push_back(&use);
        for (PlannedUse* member : turn.shared) member->versions = turn.shared.size();
      } else if (reads(use.mode)) {
        inputs = mixed(inputs, use.value);
      }
    }
    for (const PlannedUse& use : tasks[t].uses) {
      if (!writes(use.mode)) continue;
      ++final_versions[use.datum];
      if (in_any_order(use.mode)) {
        final_values[use.datum] += contribution(t, use.datum);
      } else {
        final_values[use.datum] = output(t, use.datum, inputs);
      }
    }
  }
}

}  // namespace fairlead::tests
