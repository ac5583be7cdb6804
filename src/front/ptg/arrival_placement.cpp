// Chooses the device for a value in flight, and keeps the reservations.
#include "front/ptg/arrival_placement.hpp"

#include <algorithm>
#include <array>

#include "base/check.hpp"
#include "base/pages.hpp"
#include "base/random.hpp"

namespace fairlead::ptg {

ArrivalPlacement::ArrivalPlacement(const engine::RuntimeCore& core, const ClassTable& table,
                                   const RankPlacement& placement, FlowValues& values,
                                   const front::ReceivePlacementChoice& landing)
    : core_(core),
      table_(table),
      values_(values),
      landing_(landing.landing),
      simulated_(!landing.devices),
      own_(table, placement) {
  if (landing_ == front::ReceivePlacement::host) return;
  for (int device = 0; device < core.machine().devices; ++device)
    if (simulated_ || (*landing.devices)[static_cast<std::size_t>(device)]) devices_.push_back(device);
}

void ArrivalPlacement::begin(Bytes largest_footprint) {
  if (devices_.empty()) return;
  advice_.clear();
  const memory::Memory& memory = core_.engine().memory();
  for (std::uint32_t i = 0; i < values_.of_collections(); ++i) {
    const engine::RegisteredDatum* const datum = values_[i].datum;
    int advised = no_device;
    if (datum != nullptr) advised = memory.datum(datum->id).advice;
    advice_.push_back(static_cast<std::int8_t>(advised));
  }
  const std::vector<NodeId> devices = core_.topology().devices();
  if (landing_ == front::ReceivePlacement::automatic && last_writer_device_.size() != advice_.size()) {
    last_writer_device_ = std::vector<std::atomic<std::int8_t>>(advice_.size());
    for (auto& one : last_writer_device_) one.store(no_device, std::memory_order_relaxed);
    device_of_.assign(core_.topology().nodes.size(), no_device);
    for (std::size_t i = 0; i < devices.size(); ++i)
      device_of_[index(devices[i])] = static_cast<std::int8_t>(i);
  }
  const std::lock_guard guard(mutex_);
  coming_.clear();
  going_.clear();
  arrival_space_.clear();
  departure_space_ = ~Bytes{0};
  for (const NodeId device : devices) {
    const Bytes capacity = core_.topology().nodes[index(device)].capacity;
    arrival_space_.push_back(capacity > largest_footprint ? (capacity - largest_footprint) / 2 : 0);
    departure_space_ = std::min(departure_space_, arrival_space_.back());
  }
}

PlaceHint ArrivalPlacement::reserve_arrival(const net::ValueName& name, std::uint32_t number, Bytes bytes,
                                            bool whole) {
  if (devices_.empty() || (!whole && !simulated_)) return {};
  const int device = device_for(name);
  if (std::ranges::find(devices_, device) == devices_.end()) return {};
  const Bytes takes = whole_pages_for(bytes);
  const std::lock_guard guard(mutex_);
  Bytes& room = arrival_space_[static_cast<std::size_t>(device)];
  if (takes > room) return {};
  room -= takes;
  coming_[number] = {device, takes};
  return {.device = static_cast<std::int8_t>(device)};
}

PlaceHint ArrivalPlacement::reserve_departure(net::OutgoingId id, Bytes bytes) {
  if (devices_.empty() || !simulated_) return {};
  const Bytes takes = whole_pages_for(bytes);
  const std::lock_guard guard(mutex_);
  if (takes > departure_space_) return {};
  departure_space_ -= takes;
  going_[id] = takes;
  return {.like = 0};
}

void ArrivalPlacement::release(std::uint32_t number) {
  if (devices_.empty()) return;
  const std::lock_guard guard(mutex_);
  const auto found = coming_.find(number);
  if (found == coming_.end()) return;
  arrival_space_[static_cast<std::size_t>(found->second.device)] += found->second.bytes;
  coming_.erase(found);
}

void ArrivalPlacement::release(net::OutgoingId id) {
  if (devices_.empty()) return;
  const std::lock_guard guard(mutex_);
  const auto found = going_.find(id);
  if (found == going_.end()) return;
  departure_space_ += found->second;
  going_.erase(found);
}

int ArrivalPlacement::device_for(const net::ValueName& name) const {
  if (landing_ == front::ReceivePlacement::random)
    return devices_[Random::mix(name.task ^ (std::uint64_t{name.output} << 56)) % devices_.size()];
  const Reader reader = first_reader(name);
  if (reader.at == no_value) return no_device;
  if (const int advised = advice_[reader.at];
      advised != no_device || landing_ == front::ReceivePlacement::advised)
    return advised;
  const int lives = last_writer_device_[reader.at].load(std::memory_order_relaxed);
  return lives != no_device ? lives : only_device_for(*reader.of);
}

/// The first reader usually changes the datum that determines where it runs, on the device where that datum is.
ArrivalPlacement::Reader ArrivalPlacement::first_reader(const net::ValueName& name) const {
  const auto found = std::ranges::find_if(
      table_.classes, [&](const TableClass& of) { return name.task - of.first_key < of.key_count; });
  ensure(found != table_.classes.end(), "what comes from another rank is of the same graph");
  const TableClass& of = *found;
  std::array<std::int64_t, Walk::most_loops> parameters;
  of.parameters_of(name.task, parameters.data());
  Numbers numbers{};
  for (std::size_t i = 0; i < of.parameters.size(); ++i) numbers[of.parameters[i]] = parameters[i];
  of.place_derived(numbers.data());
  for (const ClassEdge& edge : of.flows[of.output(name.output).first].edges) {
    if (edge.to_control || !edge.before(numbers.data())) continue;
    StoppableWalk walk(table_.stop);
    for (bool more = walk.begin(edge.loops, numbers.data()); more;) {
      if (const std::int64_t off = own_.steps_to_own(edge, walk, numbers.data()); off != 0) {
        more = walk.skip(edge.loops, off, numbers.data());
        continue;
      }
      const TableClass& to = table_.classes[edge.to_class];
      edge.find_parameters(numbers.data(), parameters.data());
      Numbers of_task{};
      for (std::size_t i = 0; i < to.parameters.size(); ++i) of_task[to.parameters[i]] = parameters[i];
      to.place_derived(of_task.data());
      const std::uint32_t there = values_.at(*to.runs_at, of_task.data());
      if (there == no_value) return {};  // reported as an error when the value has arrived
      return {&to, there};
    }
  }
  return {};
}

/// The only device that can run such tasks, if no core can.
int ArrivalPlacement::only_device_for(const TableClass& of) const {
  const std::uint32_t kinds = of.definition->codelet->kinds;
  if ((kinds & core_.machine().host_kinds) != 0 && !core_.fixed_order()) return no_device;
  const std::vector<NodeId> devices = core_.topology().devices();
  int only = no_device;
  for (std::size_t i = 0; i < devices.size(); ++i) {
    const bool can = std::ranges::any_of(core_.topology().workers, [&](const WorkerSpec& worker) {
      return worker.node == devices[i] && (kinds >> static_cast<unsigned>(worker.kind) & 1u) != 0;
    });
    if (!can) continue;
    if (only != no_device) return no_device;
    only = static_cast<int>(i);
  }
  return only;
}

}  // namespace fairlead::ptg
