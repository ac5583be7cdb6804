// See landing_places.hpp.
#include "front/ptg/landing_places.hpp"

#include <algorithm>
#include <array>

#include "base/check.hpp"
#include "base/pages.hpp"
#include "base/random.hpp"

namespace fairlead::ptg {

LandingPlaces::LandingPlaces(const engine::RuntimeCore& core, const ClassTable& table,
                             const Placement& placement, Values& values, front::Landing landing)
    : core_(core),
      table_(table),
      values_(values),
      landing_(landing),
      devices_(landing == front::Landing::host ? 0 : core.machine().devices),
      own_(table, placement) {}

void LandingPlaces::begin(Bytes largest_footprint) {
  if (devices_ == 0) return;
  advice_.clear();
  const memory::Memory& memory = core_.engine().memory();
  for (std::uint32_t i = 0; i < values_.of_collections(); ++i) {
    const engine::RegisteredDatum* const datum = values_[i].datum;
    int advised = no_device;
    if (datum != nullptr) advised = memory.datum(datum->id).advice;
    advice_.push_back(static_cast<std::int8_t>(advised));
  }
  const std::lock_guard guard(mutex_);
  coming_.clear();
  going_.clear();
  room_.clear();
  room_to_go_ = ~Bytes{0};
  for (const NodeId device : core_.topology().devices()) {
    const Bytes capacity = core_.topology().nodes[index(device)].capacity;
    room_.push_back(capacity > largest_footprint ? (capacity - largest_footprint) / 2 : 0);
    room_to_go_ = std::min(room_to_go_, room_.back());
  }
}

PlaceHint LandingPlaces::coming(const net::ValueName& name, std::uint32_t number, Bytes bytes) {
  const int device = devices_ == 0 ? no_device : device_for(name);
  if (device == no_device) return {};
  const Bytes takes = whole_pages_for(bytes);
  const std::lock_guard guard(mutex_);
  Bytes& room = room_[static_cast<std::size_t>(device)];
  if (takes > room) return {};
  room -= takes;
  coming_[number] = {device, takes};
  return {.device = static_cast<std::int8_t>(device)};
}

PlaceHint LandingPlaces::going(net::OutgoingId id, Bytes bytes) {
  if (devices_ == 0) return {};
  const Bytes takes = whole_pages_for(bytes);
  const std::lock_guard guard(mutex_);
  if (takes > room_to_go_) return {};
  room_to_go_ -= takes;
  going_[id] = takes;
  return {.like = 0};
}

void LandingPlaces::over(std::uint32_t number) {
  if (devices_ == 0) return;
  const std::lock_guard guard(mutex_);
  const auto found = coming_.find(number);
  if (found == coming_.end()) return;
  room_[static_cast<std::size_t>(found->second.device)] += found->second.bytes;
  coming_.erase(found);
}

void LandingPlaces::over(net::OutgoingId id) {
  if (devices_ == 0) return;
  const std::lock_guard guard(mutex_);
  const auto found = going_.find(id);
  if (found == going_.end()) return;
  room_to_go_ += found->second;
  going_.erase(found);
}

int LandingPlaces::device_for(const net::ValueName& name) const {
  if (landing_ == front::Landing::advised) return advised_device(name);
  const std::uint64_t drawn = Random::mix(name.task ^ (std::uint64_t{name.output} << 56));
  return static_cast<int>(drawn % static_cast<std::uint64_t>(devices_));
}

/// That of the datum where the first task of this rank runs that gets the value: most often it changes that datum.
int LandingPlaces::advised_device(const net::ValueName& name) const {
  const auto found = std::ranges::find_if(
      table_.classes, [&](const TableClass& of) { return name.task - of.first_name < of.names; });
  ensure(found != table_.classes.end(), "what comes from another rank is of the same graph");
  const TableClass& of = *found;
  std::array<std::int64_t, Walk::most_loops> parameters;
  of.parameters_of(name.task, parameters.data());
  Numbers numbers{};
  for (std::size_t i = 0; i < of.parameters.size(); ++i) numbers[of.parameters[i]] = parameters[i];
  of.place_derived(numbers.data());
  for (const Edge& edge : of.flows[of.output(name.output).first].edges) {
    if (edge.to_control || !edge.before(numbers.data())) continue;
    Walk walk;
    for (bool more = walk.begin(edge.loops, numbers.data()); more;) {
      if (const std::int64_t off = own_.off(edge, walk, numbers.data()); off != 0) {
        more = walk.skip(edge.loops, off, numbers.data());
        continue;
      }
      const TableClass& to = table_.classes[edge.to_class];
      edge.find_parameters(numbers.data(), parameters.data());
      Numbers of_task{};
      for (std::size_t i = 0; i < to.parameters.size(); ++i) of_task[to.parameters[i]] = parameters[i];
      to.place_derived(of_task.data());
      const std::uint32_t at = values_.at(*to.runs_at, of_task.data());
      return at == no_value ? no_device : advice_[at];
    }
  }
  return no_device;
}

}  // namespace fairlead::ptg
