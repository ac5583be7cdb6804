// owner-random: data are placed on a random device at their first touch. PaRSEC 2025 (placement), section 3.1,
// "Randomized data placement strategy".
//
// The device depends on the seed, the datum and the number of its earlier placements, not on the order of events. Two
// runs therefore place data alike, and an evicted datum may get another device.
#include <algorithm>
#include <vector>

#include "base/random.hpp"
#include "schedule/placement/owner_compute.hpp"
#include "schedule/placement/placement.hpp"

namespace fairlead::schedule {
namespace {

class OwnerRandom final : public OwnerCompute {
 public:
  explicit OwnerRandom(const PolicyOptions& options)
      : OwnerCompute(options),
        seed_(static_cast<std::uint64_t>(options.integer("seed", 0, std::int64_t{1} << 32))) {}

 private:
  Place first_touch(const Task& task) override {
    const auto accesses = task.accesses();
    const auto written = std::ranges::find_if(accesses, places);
    if (written == accesses.end()) return no_place;
    const auto able = [this](const Candidate& it) { return is_eligible(it.place); };
    const auto devices = static_cast<std::uint64_t>(std::ranges::count_if(candidates(), able));
    if (devices == 0) return no_place;
    auto left = draw(written->datum, devices);
    return std::ranges::find_if(candidates(), [&](const Candidate& it) { return able(it) && left-- == 0; })
        ->place;
  }

  std::uint64_t draw(DatumId datum, std::uint64_t devices) {
    if (index(datum) >= draws_.size()) draws_.resize(2 * index(datum) + 1);
    return Random(Random::mix(seed_ ^ Random::mix(index(datum) + 1)) + draws_[index(datum)]++).below(devices);
  }

  std::uint64_t seed_;
  std::vector<std::uint32_t> draws_;  // by datum: number of placements
};

}  // namespace

std::unique_ptr<Policy> make_owner_random(const PolicyOptions& options) {
  return std::make_unique<OwnerRandom>(options);
}

}  // namespace fairlead::schedule
