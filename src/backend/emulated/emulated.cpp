// The options of an emulated device, its memory, and which wire is played by whom; see emulated.hpp.
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
#include "backend/emulated/lifetime.hpp"
#include "backend/emulated/wire.hpp"
#include "base/device_memory.hpp"
#include "base/pages.hpp"

namespace fairlead::backend {

namespace {

using enum SettingType;

enum class Option : std::uint8_t { memory, bandwidth, duplex, latency, speed, copies, workers, peers, lost };
constexpr std::array<Setting, 9> options{{
    {.key = "memory", .type = size, .minimum = "4KiB", .help = "its capacity; it has to be given"},
    {.key = "bandwidth",
     .type = bandwidth,
     .fallback = "10GB/s",
     .minimum = "1KB/s",
     .help = "of its wire to RAM, in each direction"},
    {.key = "duplex",
     .type = choice,
     .fallback = "yes",
     .choices = "yes|no",
     .help = "no: its wires' directions share their bandwidth"},
    {.key = "latency",
     .type = count,
     .fallback = "10",
     .maximum = "1000000",
     .help = "of each copy, in microseconds"},
    {.key = "speed",
     .type = real,
     .fallback = "1",
     .minimum = "0.001",
     .maximum = "1",
     .help = "as a part of a core's: tasks take so much longer"},
    {.key = "copies",
     .type = choice,
     .fallback = "asynchronous",
     .choices = "asynchronous|blocking",
     .help = "blocking: while bytes move, it runs no task"},
    {.key = "workers",
     .type = count,
     .fallback = "1",
     .minimum = "1",
     .maximum = "64",
     .help = "tasks that it runs at the same time"},
    {.key = "peers",
     .type = bandwidth,
     .absent = no_peers,
     .minimum = "1KB/s",
     .help = "of wires to other devices that have some, too; without, copies between devices go through RAM"},
    {.key = "lost",
     .type = count,
     .fallback = "0",
     .maximum = "1000000000",
     .help = "it is lost after so many copies and tasks, to try how a run takes that; 0: never"},
}};

struct EmulatedDevice {
  DeviceSpec spec;
  bool blocking_copies = false;      // while bytes move, it runs nothing
  double speed = 1;                  // of its workers, as a part of a core's
  double peer_bytes_per_second = 0;  // of wires to other devices that have some; 0: it has none
  std::uint64_t lost_after = 0;      // copies and tasks; 0: never
  NodeId node{};
  Lifetime* lifetime = nullptr;  // null: without an end
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

/// As if it took longer: a slower processor would still be at it. And it may be lost.
class EmulatedProcessor final : public Processor {
 public:
  /// `lifetime`: null: without an end.
  EmulatedProcessor(double speed, Lifetime* lifetime, Site& site)
      : speed_(speed), lifetime_(lifetime), site_(site) {}
  bool run(const Implementation& implementation, TaskContext& context) override {
    if (lifetime_ != nullptr && lifetime_->over()) return false;
    const bool asynchronous = implementation.asynchronous;  // afterwards the codelet may be gone
    {
      const Stretched until_it_would_be_over(*this);
      implementation.run(implementation.body.get(), context);
    }
    // What is over later cannot fail any more by what is thrown now.
    if (lifetime_ != nullptr && !asynchronous && !lifetime_->allows_one_more())
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
  Lifetime* const lifetime_;
  Site& site_;
};

/// RAM as any other.
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

class EmulatedPart final : public Part {
 public:
  void add_device(Topology& topology, const DeviceEntry& entry) override {
    EmulatedDevice& device = devices_.emplace_back(device_of(entry));
    device.node = fairlead::add_device(topology, device.spec);
  }
  void add_to(Topology& topology) override {
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
  void begin(Site& site) override {
    const Topology& topology = site.topology();
    for (EmulatedDevice& device : devices_) {
      site.memory_of(device.node, arenas_.emplace_back(device.spec.capacity).at(0));
      site.lands_in(device.node, memory_);
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
        if (topology.workers[i].node == device.node) site.run_by(static_cast<WorkerId>(i), processor);
    }
  }

 private:
  const EmulatedDevice* device_at(NodeId node) const noexcept {
    const auto found = std::ranges::find(devices_, node, &EmulatedDevice::node);
    return found == devices_.end() ? nullptr : &*found;
  }
  Lifetime* lifetime_at(NodeId node) const noexcept {
    const EmulatedDevice* const device = device_at(node);
    return device == nullptr ? nullptr : device->lifetime;
  }
  /// Whose worker moves the bytes, if its copies block it. Null: the link is no wire of ours.
  const EmulatedDevice* player_of(const LinkSpec& link) const noexcept {
    if (!link.legs.empty()) return nullptr;
    const EmulatedDevice *first = device_at(link.first), *second = device_at(link.second);
    return second != nullptr && (second->blocking_copies || first == nullptr) ? second : first;
  }
  void begin_wire(Site& site, LinkId id, const EmulatedDevice& player) {
    const Topology& topology = site.topology();
    const LinkSpec& link = topology.links[index(id)];
    const auto worker = static_cast<WorkerId>(
        std::ranges::find(topology.workers, player.node, &WorkerSpec::node) - topology.workers.begin());
    const bool blocks = player.blocking_copies;
    Wire& wire = wires_.emplace_back(
        Wire::Settings{.bytes_per_second = static_cast<Bytes>(link.bytes_per_second.away),
                       .duplex = link.duplex && !blocks,
                       .latency = link.latency,
                       .played_by = blocks ? Wire::PlayedBy::worker : Wire::PlayedBy::own_threads},
        Wire::World{.clock = [&site] { return site.now(); },
                    .wake = [&site, worker] { site.wake(engine::Who::worker(worker)); },
                    .outcome =
                        [first = lifetime_at(link.first), second = lifetime_at(link.second)] {
                          for (Lifetime* const device : {first, second})
                            if (device != nullptr && !device->allows_one_more())
                              return Outcome{EIO, device->text(), nullptr};
                          return Outcome{};
                        }});
    site.carry(id, wire);
    if (blocks) site.give(worker, wire);
  }

  std::vector<EmulatedDevice> devices_;
  std::deque<Arena> arenas_;
  EmulatedMemory memory_;
  std::deque<Lifetime> lifetimes_;
  std::deque<EmulatedProcessor> processors_;
  std::deque<Wire> wires_;  // last: their threads use the rest
};

}  // namespace

std::span<const Setting> EmulatedBackend::device_options() const noexcept { return options; }
std::unique_ptr<Part> EmulatedBackend::make() const { return std::make_unique<EmulatedPart>(); }

}  // namespace fairlead::backend
