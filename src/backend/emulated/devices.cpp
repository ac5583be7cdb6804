// Which wire carries what; see devices.hpp.
#include "backend/emulated/devices.hpp"
#include "base/pages.hpp"

#include <fairlead/error.hpp>

#include <algorithm>
#include <cerrno>

namespace fairlead::backend {

namespace {
// The token of a move or a disk transfer is that of a whole copy, or, marked by its lowest bit, that of a
// hop.
void* marked(void* hop) noexcept {
  return reinterpret_cast<void*>(reinterpret_cast<std::uintptr_t>(hop) | 1);
}
bool is_marked(const void* token) noexcept { return (reinterpret_cast<std::uintptr_t>(token) & 1) != 0; }
void* unmarked(void* token) noexcept {
  return reinterpret_cast<void*>(reinterpret_cast<std::uintptr_t>(token) & ~std::uintptr_t{1});
}
}  // namespace

Devices::Devices(std::vector<DeviceOptions> options, Surroundings surroundings)
    : options_(std::move(options)),
      around_(std::move(surroundings)),
      played_by_(around_.topology->workers.size()),
      wires_(around_.topology->links.size()) {
  using Nodes = OutOfCoreNodes;
  for (const DeviceOptions& device : options_) {
    transits_.push_back(std::make_unique<Transit>(
        Transit::Settings{device.piece_bytes, device.pieces, device.transit},
        [this](const Hop& hop) { carry(hop); },
        [this](void* copy, int error) { around_.copy_done(*static_cast<memory::Copy*>(copy), error); }));
  }
  const auto& links = around_.topology->links;
  for (std::size_t i = 0; i < links.size(); ++i) {
    const DeviceOptions *first = device_at(links[i].first), *second = device_at(links[i].second);
    if (!links[i].legs.empty() || (first == nullptr && second == nullptr)) continue;
    if (first == nullptr && links[i].first != Nodes::ram)
      throw Error("internal: a device has a wire to something else than RAM or another device");
    const DeviceOptions& player =
        second != nullptr && (second->blocking_copies || first == nullptr) ? *second : *first;
    WorkerId worker{};
    while (around_.topology->workers[index(worker)].node != player.node)
      worker = static_cast<WorkerId>(index(worker) + 1);
    Wire::Settings settings{
        .bytes_per_second = static_cast<Bytes>(links[i].bytes_per_second),
        .latency = links[i].latency,
        .played_by = player.blocking_copies ? Wire::PlayedBy::worker : Wire::PlayedBy::own_thread};
    wires_[i] = std::make_unique<Wire>(
        settings, around_.clock, [this](void* token) { moved(token); },
        [this, worker] { around_.wake(worker); });
    if (player.blocking_copies) played_by_[index(worker)].push_back(wires_[i].get());
  }
}

Devices::~Devices() { stop(); }

void Devices::stop() noexcept {
  for (const auto& transit : transits_) transit->stop();
  for (const auto& wire : wires_)
    if (wire != nullptr) wire->stop();
}

const DeviceOptions* Devices::device_at(NodeId node) const noexcept {
  const auto found = std::ranges::find(options_, node, &DeviceOptions::node);
  return found == options_.end() ? nullptr : &*found;
}

double Devices::speed_of(NodeId node) const noexcept {
  const DeviceOptions* device = device_at(node);
  return device == nullptr ? 1 : device->speed;
}

std::byte* Devices::address_of(const memory::Replica& replica) const noexcept {
  if (const DeviceOptions* device = device_at(replica.node)) return device->arena + replica.block->offset;
  if (replica.node == OutOfCoreNodes::ram) return around_.ram + replica.block->offset;
  return static_cast<std::byte*>(replica.address);  // user memory
}

void Devices::start(memory::Copy& copy) {
  const auto& legs = around_.routes->of(copy).legs;
  if (legs.size() == 2) {
    const DeviceOptions* device = device_at(copy.to->node);
    if (device == nullptr) device = device_at(copy.from->node);
    std::byte* const kept = copy.via == nullptr ? nullptr : address_of(*copy.via);
    // In whole blocks, as direct I/O wants them; caches and the spill file have the space.
    transits_[static_cast<std::size_t>(device - options_.data())]->start(&copy, whole_pages_for(copy.bytes),
                                                                         kept);
    return;
  }
  const bool home = copy.to->node == OutOfCoreNodes::user_memory;
  wires_[index(legs[0].link)]->submit({.from = address_of(*copy.from),
                                       .to = address_of(*copy.to),
                                       .bytes = copy.bytes,
                                       .layout = copy.layout,
                                       .unpack = home,
                                       .token = &copy});
}

void Devices::carry(const Hop& hop) {
  const auto& copy = *static_cast<memory::Copy*>(hop.copy);
  const Leg& leg = around_.routes->of(copy).legs[hop.wire];
  const memory::Replica& end = hop.wire == 0 ? *copy.from : *copy.to;
  void* const token = marked(hop.token);
  if (hop.wire == 0 && copy.generator != nullptr)
    return around_.generate({.copy = static_cast<memory::Copy*>(hop.copy),
                             .to = hop.buffer,
                             .first = hop.first,
                             .bytes = hop.bytes,
                             .token = token});
  if (end.node == OutOfCoreNodes::disk) {
    around_.submit_to_disk({.offset = end.block->offset + hop.first,
                            .memory = hop.buffer,
                            .bytes = hop.bytes,
                            .direction = hop.wire == 0 ? IoDirection::read : IoDirection::write,
                            .token = token});
    return;
  }
  std::byte* const place = address_of(end) + hop.first;
  wires_[index(leg.link)]->submit({.from = hop.wire == 0 ? place : hop.buffer,
                                   .to = hop.wire == 0 ? hop.buffer : place,
                                   .bytes = hop.bytes,
                                   .token = token});
}

void Devices::moved(void* token) noexcept {
  try {
    if (is_marked(token)) {
      Transit::hop_done(unmarked(token), 0);
    } else {
      around_.copy_done(*static_cast<memory::Copy*>(token), 0);
    }
  } catch (...) {  // the next piece could not be begun
    around_.failed(std::current_exception());
  }
}

bool Devices::is_ours(const IoResult& result) noexcept { return is_marked(result.token); }
void Devices::disk_done(const IoResult& result) {
  Transit::hop_done(unmarked(result.token), result.error_number);
}

void Devices::generated(void* token, int error_number) { Transit::hop_done(unmarked(token), error_number); }

bool Devices::play_one(WorkerId worker) {
  for (Wire* wire : played_by_[index(worker)])
    if (wire->play_one()) return true;
  return false;
}

bool Devices::waiting(WorkerId worker) const {
  return std::ranges::any_of(played_by_[index(worker)], [](const Wire* wire) { return wire->waiting(); });
}

std::size_t Devices::threads() const noexcept {
  return static_cast<std::size_t>(
      std::ranges::count_if(wires_, [](const auto& wire) { return wire != nullptr && wire->has_thread(); }));
}

void Devices::lift_caps() noexcept {
  for (const auto& wire : wires_)
    if (wire != nullptr) wire->lift_cap();
}

}  // namespace fairlead::backend
