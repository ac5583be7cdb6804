// The options of an emulated device, its memory, its processor, and the links that emulate its transfers.
#include "backend/emulated/emulated.hpp"

#include <fairlead/error.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <deque>
#include <functional>
#include <thread>
#include <variant>

#include "backend/arena.hpp"
#include "backend/device/entry.hpp"
#include "backend/emulated/emulated_link.hpp"
#include "backend/emulated/injected_loss.hpp"
#include "base/device_memory.hpp"
#include "base/pages.hpp"

namespace fairlead::backend {

namespace {

using enum SettingType;

enum class Option : std::uint8_t { memory, bandwidth, duplex, latency, speed, copies, workers, peers, lost };
constexpr std::array<Setting, 9> options{{
    {.key = "memory", .type = size, .minimum = "4KiB", .help = "its capacity; required"},
    {.key = "bandwidth",
     .type = bandwidth,
     .default_value = "10GB/s",
     .minimum = "1KB/s",
     .help = "of its link to RAM, in each direction"},
    {.key = "duplex",
     .type = choice,
     .default_value = "yes",
     .choices = "yes|no",
     .help = "no: both directions of a link share its bandwidth"},
    {.key = "latency",
     .type = count,
     .default_value = "10",
     .maximum = "1000000",
     .help = "of each copy, in microseconds"},
    {.key = "speed",
     .type = real,
     .default_value = "1",
     .minimum = "0.001",
     .maximum = "1",
     .help = "relative to a core: tasks take longer by this factor's inverse"},
    {.key = "copies",
     .type = choice,
     .default_value = "asynchronous",
     .choices = "asynchronous|blocking",
     .help = "blocking: it runs no task during a copy"},
    {.key = "workers",
     .type = count,
     .default_value = "1",
     .minimum = "1",
     .maximum = "64",
     .help = "tasks that it runs at the same time"},
    {.key = "peers",
     .type = bandwidth,
     .unset_word = no_peers,
     .minimum = "1KB/s",
     .help = "of links to other devices with peers; off: copies between devices go through RAM"},
    {.key = "lost",
     .type = count,
     .default_value = "0",
     .maximum = "1000000000",
     .help = "number of copies and tasks after which it is lost, to test failures; 0: never"},
}};

struct EmulatedDevice {
  DeviceSpec spec;
  bool blocking_copies = false;      // runs no task during a copy
  double speed = 1;                  // of its workers, relative to a core
  double peer_bytes_per_second = 0;  // of links to other devices with this option; 0: none
  std::uint64_t lost_after = 0;      // copies and tasks; 0: never
  NodeId node{};
  InjectedLoss* lifetime = nullptr;  // null: never lost
};

EmulatedDevice device_of(const DeviceEntry& entry) {
  EmulatedDevice device;
  device.speed = std::get<double>(entry.value(Option::speed));
  device.blocking_copies = std::get<std::string>(entry.value(Option::copies)) == "blocking";
  if (const auto* rate = std::get_if<std::uint64_t>(&entry.value(Option::peers)))
    device.peer_bytes_per_second = static_cast<double>(*rate);
  device.lost_after = entry.number(Option::lost);
  device.spec = {.name = entry.name,
                 .kind = WorkerKind::emulated,
                 .capacity = entry.memory(Option::memory, "emulated:memory=256MiB"),
                 .bytes_per_second = static_cast<double>(entry.number(Option::bandwidth)),
                 .duplex = std::get<std::string>(entry.value(Option::duplex)) == "yes",
                 .latency = Duration(static_cast<std::int64_t>(entry.number(Option::latency)) * 1000),
                 .workers = static_cast<unsigned>(entry.number(Option::workers)),
                 .processor = fmt::format("{:.3g} of a core", device.speed)};
  return device;
}

/// Stretches the time of each body to that of a slower processor; reports failures once the device is lost.
class EmulatedProcessor final : public DeviceProcessor {
 public:
  /// `lifetime`: null: never lost.
  EmulatedProcessor(double speed, InjectedLoss* lifetime, BackendHost& site)
      : speed_(speed), lifetime_(lifetime), site_(site) {}
  bool run(const Implementation& implementation, TaskContext& context) override {
    if (lifetime_ != nullptr && lifetime_->is_lost()) return false;
    // read first: the codelet may be destroyed afterwards
    const bool asynchronous = implementation.asynchronous;
    {
      const Stretched until_it_would_be_over(*this);
      implementation.run(implementation.body.get(), context);
    }
    // An asynchronous task completes later; an exception thrown now cannot fail it.
    if (lifetime_ != nullptr && !asynchronous && !lifetime_->count_operation())
      throw DeviceLostError(lifetime_->text());
    return true;
  }

 private:
  struct Stretched {
    explicit Stretched(const EmulatedProcessor& slower) : by(slower), start(slower.site_.now()) {}
    Stretched(const Stretched&) = delete;
    Stretched& operator=(const Stretched&) = delete;
    ~Stretched() {
      const auto longer = static_cast<double>((by.site_.now() - start).count()) * (1 / by.speed_ - 1);
      std::this_thread::sleep_for(Duration(static_cast<std::int64_t>(longer)));
    }
    const EmulatedProcessor& by;
    const Time start;
  };
  const double speed_;
  InjectedLoss* const lifetime_;
  BackendHost& site_;
};

/// Plain RAM.
class EmulatedMemory final : public DeviceMemory {
 public:
  bool is_ram() const noexcept override { return true; }
  bool write(void* to, const void* from, Bytes bytes) override {
    std::memcpy(to, from, bytes);
    return true;
  }
  bool call(const std::function<void()>& it) override {
    it();
    return true;
  }
};

class EmulatedPart final : public BackendInstance {
 public:
  void add_device(Topology& topology, const DeviceEntry& entry) override {
    EmulatedDevice& device = devices_.emplace_back(device_of(entry));
    device.node = fairlead::add_device(topology, device.spec);
  }
  void add_links(Topology& topology) override {
    for (const EmulatedDevice& device : devices_)
      for (const EmulatedDevice& before : devices_) {
        if (&before == &device) break;
        const double rate = std::min(before.peer_bytes_per_second, device.peer_bytes_per_second);
        if (rate > 0)
          join_peers(topology, before.node, device.node, rate,
                     std::max(before.spec.latency, device.spec.latency),
                     before.spec.duplex && device.spec.duplex);
      }
  }
  void attach(BackendHost& site) override {
    const Topology& topology = site.topology();
    for (EmulatedDevice& device : devices_) {
      site.set_memory(device.node, arenas_.emplace_back(device.spec.capacity).at(0));
      site.set_network_target(device.node, memory_);
      if (device.lost_after != 0)
        device.lifetime = &lifetimes_.emplace_back(site, device.node, topology.nodes[index(device.node)].name,
                                                   device.lost_after);
    }
    for (std::size_t i = 0; i < topology.links.size(); ++i)
      if (const EmulatedDevice* const player = player_of(topology.links[i]))
        begin_wire(site, static_cast<LinkId>(i), *player);
    for (const EmulatedDevice& device : devices_) {
      if (device.speed >= 1 && device.lifetime == nullptr) continue;
      EmulatedProcessor& processor = processors_.emplace_back(device.speed, device.lifetime, site);
      for (std::size_t i = 0; i < topology.workers.size(); ++i)
        if (topology.workers[i].node == device.node) site.set_processor(static_cast<WorkerId>(i), processor);
    }
  }

 private:
  const EmulatedDevice* device_at(NodeId node) const noexcept {
    const auto found = std::ranges::find(devices_, node, &EmulatedDevice::node);
    return found == devices_.end() ? nullptr : &*found;
  }
  InjectedLoss* lifetime_at(NodeId node) const noexcept {
    const EmulatedDevice* const device = device_at(node);
    return device == nullptr ? nullptr : device->lifetime;
  }
  /// The device that emulates the link; its worker moves the bytes if its copies are blocking. Null: not a link of
  /// this backend.
  const EmulatedDevice* player_of(const LinkSpec& link) const noexcept {
    if (!link.physical_links.empty()) return nullptr;
    const EmulatedDevice *first = device_at(link.first), *second = device_at(link.second);
    return second != nullptr && (second->blocking_copies || first == nullptr) ? second : first;
  }
  void begin_wire(BackendHost& site, LinkId id, const EmulatedDevice& player) {
    const Topology& topology = site.topology();
    const LinkSpec& link = topology.links[index(id)];
    const auto worker = static_cast<WorkerId>(
        std::ranges::find(topology.workers, player.node, &WorkerSpec::node) - topology.workers.begin());
    const bool blocks = player.blocking_copies;
    EmulatedLink& wire = wires_.emplace_back(
        EmulatedLink::Settings{
            .bytes_per_second = static_cast<Bytes>(link.bytes_per_second.out),
            .duplex = link.duplex && !blocks,
            .latency = link.latency,
            .played_by = blocks ? EmulatedLink::PlayedBy::worker : EmulatedLink::PlayedBy::own_threads},
        EmulatedLink::World{.clock = [&site] { return site.now(); },
                            .wake = [&site, worker] { site.wake(engine::WakeTarget::worker(worker)); },
                            .outcome =
                                [first = lifetime_at(link.first), second = lifetime_at(link.second)] {
                                  for (InjectedLoss* const device : {first, second})
                                    if (device != nullptr && !device->count_operation())
                                      return TransferResult{EIO, device->text(), nullptr};
                                  return TransferResult{};
                                }});
    site.set_transfer_engine(id, wire);
    if (blocks) site.add_chore(worker, wire);
  }

  std::vector<EmulatedDevice> devices_;
  std::deque<Arena> arenas_;
  EmulatedMemory memory_;
  std::deque<InjectedLoss> lifetimes_;
  std::deque<EmulatedProcessor> processors_;
  std::deque<EmulatedLink> wires_;  // last: their threads use the other fields
};

}  // namespace

std::span<const Setting> EmulatedBackend::device_options() const noexcept { return options; }
std::unique_ptr<BackendInstance> EmulatedBackend::make() const { return std::make_unique<EmulatedPart>(); }

}  // namespace fairlead::backend
