// owner-random: data are placed on a device by chance, when they are first touched. PaRSEC 2025 (placement),
// section 3.1, "Randomized data placement strategy".
//
// The device follows from the seed, the datum and how often it was placed before, not from the order of
// events: so two runs place data alike, and a datum that was staged out may come to another device.
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
    if (written == accesses.end()) return nowhere;
    const auto able = [this](const Candidate& it) { return possible(it.place); };
    const auto devices = static_cast<std::uint64_t>(std::ranges::count_if(candidates(), able));
    if (devices == 0) return nowhere;
    auto left = draw(written->datum, devices);
    return std::ranges::find_if(candidates(), [&](const Candidate& it) { return able(it) && left-- == 0; })
        ->place;
  }

  std::uint64_t draw(DatumId datum, std::uint64_t devices) {
    if (index(datum) >= draws_.size()) draws_.resize(2 * index(datum) + 1);
    return Random(Random::mix(seed_ ^ Random::mix(index(datum) + 1)) + draws_[index(datum)]++).below(devices);
  }

  std::uint64_t seed_;
  std::vector<std::uint32_t> draws_;  // by datum: how often it was placed
};

}  // namespace

std::unique_ptr<Policy> make_owner_random(const PolicyOptions& options) {
  return std::make_unique<OwnerRandom>(options);
}

}  // namespace fairlead::schedule
