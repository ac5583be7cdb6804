// Parses machine files; docs/machines.md describes the format.
#include <fmt/format.h>
#include <fairlead/error.hpp>

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>

#include "base/suggest.hpp"
#include "config/toml_reader.hpp"
#include "machine/description.hpp"

namespace fairlead::machine {

namespace {

using config::TomlReader;

constexpr Bytes least_memory = Bytes{64} << 10;

Bytes memory_of(TomlReader& reader) {
  const Bytes memory = reader.size("memory");
  if (memory < least_memory)
    reader.fail("memory", fmt::format("is \"{}\", but must be at least 64KiB: is its unit missing?",
                                      reader.string("memory")));
  return memory;
}

/// A text for tables of results: one line, not empty.
std::string one_line(TomlReader& reader, std::string_view key) {
  std::string text = reader.string(key);
  if (text.empty() || text.find('\n') != text.npos) reader.fail(key, "must be one line, and not empty");
  return text;
}

Bandwidth bandwidth_of(TomlReader& reader) {
  const double away = reader.bandwidth("bandwidth");
  return {away, reader.contains("bandwidth_back") ? reader.bandwidth("bandwidth_back") : away};
}

LinkDescription link_of(TomlReader& reader) {
  return {.bytes_per_second = bandwidth_of(reader),
          .duplex = reader.bool_or("duplex", true),
          .latency = reader.microseconds_or("latency_microseconds", 10),
          .buses = reader.strings("buses")};
}

constexpr double least_gflops = 1e-6, most_gflops = 1e12;

KernelRate rate_of(TomlReader& reader) {
  KernelRate rate;
  rate.kernel = reader.string("kernel");
  rate.precision = reader.text_or("precision", "");
  if (!rate.precision.empty() && rate.precision != "single" && rate.precision != "double")
    reader.fail("precision", "must be \"single\" or \"double\", or left out for both");
  if (reader.contains("by_side")) {
    for (const char* key : {"gflops", "half_side"})
      if (reader.contains(key)) reader.fail(key, "is not allowed with by_side, which replaces it");
    for (const auto& [side, gflops] :
         reader.pairs("by_side", "must be a list of sides with their GFlop/s, as in [[320, 5], [960, 9]]")) {
      if (!(gflops >= least_gflops && gflops <= most_gflops) ||
          (!rate.by_side.empty() && side <= rate.by_side.back().first))
        reader.fail("by_side", "must have growing sides, and rates from 1e-06 to 1e+12 GFlop/s");
      rate.by_side.emplace_back(side, gflops * 1e9);
    }
    if (rate.by_side.empty()) reader.fail("by_side", "must name at least one side and its rate");
  } else {
    rate.flops_per_second = reader.number("gflops", least_gflops, most_gflops) * 1e9;
    rate.half_side = reader.number_or("half_side", 0, 0, 1e9);
  }
  rate.overhead = reader.microseconds_or("overhead_microseconds", 0);
  return rate;
}

void read_processors(TomlReader& all, MachineDescription& machine) {
  for (const std::string& name : all.keys())
    all.table(name, [&](TomlReader& reader) {
      ProcessorDescription processor{.name = name, .kind = {}, .rates = {}};
      const std::string kind = reader.string("kind");
      if (kind == "cpu")
        processor.kind = WorkerKind::cpu;
      else if (kind == "cuda")
        processor.kind = WorkerKind::cuda;
      else if (kind == "opencl")
        processor.kind = WorkerKind::opencl;
      else
        reader.fail("kind", fmt::format("is \"{}\", but must be \"cpu\", \"cuda\" or \"opencl\"", kind));
      reader.each("rate", [&](TomlReader& rate) {
        KernelRate next = rate_of(rate);
        for (const KernelRate& other : processor.rates)
          if (other.kernel == next.kernel && (other.precision.empty() || other.precision == next.precision))
            rate.fail("kernel",
                      fmt::format("is \"{}\" again in the same precision: only the first would be used",
                                  next.kernel));
        processor.rates.push_back(std::move(next));
      });
      if (processor.rates.empty())
        reader.fail("rate", "must be given at least once, as [[processor.NAME.rate]]");
      machine.processors.push_back(std::move(processor));
    });
}

void read_devices(TomlReader& reader, MachineDescription& machine) {
  const DeviceDescription device{
      .name = reader.text_or("name", "gpu"),
      .processor = reader.string("processor"),
      .memory = memory_of(reader),
      .streams = static_cast<unsigned>(reader.count_or("streams", 1, 1, 64)),
      .concurrent_throughput = reader.number_or("together", 1, 1, 64),
      .link = link_of(reader),
      .host_cores_per_task = static_cast<unsigned>(reader.count_or("on_cores", 0, 0, 4096))};
  if (machine.processor(device.processor).kind == WorkerKind::cpu)
    reader.fail("processor", "must be one of kind \"cuda\" or \"opencl\"");
  if (device.host_cores_per_task > machine.cores)
    reader.fail("on_cores", fmt::format("is {}, more than the {} cores of the [host]",
                                        device.host_cores_per_task, machine.cores));
  if (device.host_cores_per_task > 0 && device.concurrent_throughput != 1)
    reader.fail("together", "is for devices with their own processors; this one has on_cores");
  const std::size_t count = reader.count_or("count", 1, 1, max_devices);
  for (std::size_t i = 0; i < count; ++i) {
    if (machine.devices.size() == max_devices)
      reader.fail("count", fmt::format("makes more than {} devices", max_devices));
    machine.devices.push_back(device);
    machine.devices.back().name = fmt::format("{} {}", device.name, machine.devices.size() - 1);
  }
}

/// Sizes of nested groups of cores; each divides the one before it.
std::vector<std::size_t> cores_together_in(TomlReader& host, std::size_t cores) {
  std::vector<std::size_t> sizes;
  for (const double wanted : host.numbers("cores_together")) {
    const std::size_t around = sizes.empty() ? cores : sizes.back();
    if (wanted != std::floor(wanted) || wanted < 2 || wanted >= static_cast<double>(around) ||
        around % static_cast<std::size_t>(wanted) != 0)
      host.fail(
          "cores_together",
          fmt::format("must be whole numbers from 2, each a divisor of the one before, the first of the "
                      "{} cores, as in [4, 2]",
                      cores));
    sizes.push_back(static_cast<std::size_t>(wanted));
  }
  return sizes;
}

std::string port_name(std::size_t device) { return fmt::format("port of device {}", device); }

/// Adds a bus for each device, shared by its links to all its peers.
void add_ports(TomlReader& reader, MachineDescription& machine, const LinkDescription& link) {
  for (std::size_t device = 0; device < machine.devices.size(); ++device) {
    if (std::ranges::find(machine.buses, port_name(device), &BusDescription::name) != machine.buses.end())
      reader.fail("ports", fmt::format("makes a second \"{}\"", port_name(device)));
    machine.buses.push_back({.name = port_name(device),
                             .bytes_per_second = link.bytes_per_second,
                             .duplex = link.duplex,
                             .port_of = device});
  }
}

void read_peers(TomlReader& reader, MachineDescription& machine) {
  const LinkDescription link = link_of(reader);
  const bool ports = reader.bool_or("ports", false), all = reader.bool_or("all", false);
  if (ports && reader.contains("bandwidth_back"))
    reader.fail("bandwidth_back",
                "is not allowed with ports, which have the same bandwidth in both directions");
  if (ports) add_ports(reader, machine, link);
  const auto add = [&](std::size_t a, std::size_t b) {
    const std::size_t first = std::min(a, b), second = std::max(a, b);
    for (const PeerDescription& other : machine.peers)
      if (other.first == first && other.second == second)
        reader.fail(all ? "all" : "between", fmt::format("connects devices {} and {} again", first, second));
    machine.peers.push_back({first, second, link});
    if (first != a) machine.peers.back().link.bytes_per_second = link.bytes_per_second.reversed();
    if (!ports) return;
    for (const std::size_t device : {first, second})
      machine.peers.back().link.buses.push_back(port_name(device));
  };
  if (all) {
    for (std::size_t b = 0; b < machine.devices.size(); ++b)
      for (std::size_t a = 0; a < b; ++a) add(a, b);
    return;
  }
  constexpr const char* wanted = "must be pairs of devices, as in [[0, 1], [2, 3]]";
  const auto pairs = reader.pairs("between", wanted);
  if (pairs.empty()) reader.fail("between", wanted);
  for (const auto& [first, second] : pairs) {
    if (first != std::floor(first) || second != std::floor(second)) reader.fail("between", wanted);
    const auto a = static_cast<std::size_t>(first), b = static_cast<std::size_t>(second);
    if (a == b || std::max(a, b) >= machine.devices.size())
      reader.fail("between",
                  machine.devices.size() < 2
                      ? fmt::format("needs two devices; there are {}", machine.devices.size())
                      : fmt::format("connects devices {} and {}, but must name two of the devices 0 to {}",
                                    first, second, machine.devices.size() - 1));
    add(a, b);
  }
}

UnifiedMemoryDescription unified_memory_of(TomlReader& reader, const MachineDescription& machine) {
  const auto size_or = [&](std::string_view key, Bytes otherwise) {
    const Bytes size = reader.contains(key) ? reader.size(key) : otherwise;
    if (size == 0) reader.fail(key, "must be more than 0");
    return size;
  };
  const UnifiedMemoryDescription unified{.page = size_or("page", Bytes{64} << 10),
                                         .block = size_or("block", Bytes{2} << 20),
                                         .batch_pages = reader.count("batch_pages", 1, 1'000'000),
                                         .batch_time = reader.microseconds("batch_microseconds"),
                                         .time_per_page = reader.microseconds("page_microseconds")};
  if (unified.block % unified.page != 0) reader.fail("block", "must be a multiple of `page`");
  if (machine.devices.empty()) reader.fail("batch_pages", "has no effect: the machine has no [[device]]");
  return unified;
}

void check_buses(const MachineDescription& machine, std::string_view file) {
  std::vector<std::string_view> names;
  for (const BusDescription& bus : machine.buses) names.push_back(bus.name);
  const auto check = [&](const LinkDescription& link, const std::string& whose) {
    for (auto it = link.buses.begin(); it != link.buses.end(); ++it) {
      const std::string& bus = *it;
      if (std::find(link.buses.begin(), it, bus) != it)
        throw ConfigError(fmt::format("{}: {} goes through the bus \"{}\" twice", file, whose, bus));
      if (std::ranges::find(names, bus) == names.end())
        throw ConfigError(fmt::format("{}: {} goes through the bus \"{}\", which no [[bus]] describes{}",
                                      file, whose, bus, did_you_mean(bus, names)));
    }
  };
  for (const DeviceDescription& device : machine.devices) check(device.link, device.name);
  for (const PeerDescription& peer : machine.peers)
    check(peer.link, fmt::format("the link between the devices {} and {}", peer.first, peer.second));
  if (machine.disk) check(*machine.disk, "the disk");
  check(machine.network.link, "the network");
}

}  // namespace

MachineDescription read_machine(std::string_view text, std::string_view file) {
  const config::TomlNode table = config::parse_toml(text, file);
  MachineDescription machine;
  TomlReader reader(table, file, "a machine");
  reader.declare_keys({"name", "summary", "source", "processor", "host", "bus", "disk", "device", "peers",
                       "network", "unified_memory"});
  machine.name = one_line(reader, "name");
  machine.summary = one_line(reader, "summary");
  machine.source = reader.string("source");
  reader.table("processor", [&](TomlReader& all) { read_processors(all, machine); });
  if (machine.processors.empty()) reader.fail("processor", "is missing: describe one as [processor.NAME]");
  reader.table("host", [&](TomlReader& host) {
    machine.cores = host.count("cores", 0, 4096);
    machine.core_processor = host.string("core");
    machine.core_group_sizes = cores_together_in(host, machine.cores);
    machine.memory = memory_of(host);
    if (machine.processor(machine.core_processor).kind != WorkerKind::cpu)
      host.fail("core", "must be a processor of kind \"cpu\"");
  });
  if (machine.memory == 0) reader.fail("host", "is missing: describe cores and memory in [host]");
  reader.each("bus", [&](TomlReader& bus) {
    for (const BusDescription& other : machine.buses)
      if (other.name == bus.string("name"))
        bus.fail("name", fmt::format("is \"{}\" a second time", other.name));
    machine.buses.push_back({.name = bus.string("name"),
                             .bytes_per_second = bandwidth_of(bus),
                             .duplex = bus.bool_or("duplex", true)});
  });
  reader.table("disk", [&](TomlReader& disk) { machine.disk = link_of(disk); });
  reader.each("device", [&](TomlReader& device) { read_devices(device, machine); });
  reader.each("peers", [&](TomlReader& peers) { read_peers(peers, machine); });
  reader.table("network", [&](TomlReader& network) {
    machine.network.nodes = network.count("nodes", 1, 1'000'000);
    machine.network.interfaces = network.count_or("interfaces", 1, 1, 64);
    machine.network.link = link_of(network);
    machine.network.per_message = network.microseconds_or("message_microseconds", 0);
    machine.network.per_byte_nanoseconds = network.number_or("byte_nanoseconds", 0, 0, 1e6);
    machine.network.polled_by_workers = network.bool_or("heard_between_tasks", false);
    machine.network.in_order = network.bool_or("in_order", false);
    machine.network.nodes_per_switch = network.count_or("nodes_per_switch", 0, 0, machine.network.nodes);
    if (network.contains("switch_bandwidth")) {
      machine.network.switch_bytes_per_second = network.bandwidth("switch_bandwidth");
      if (machine.network.nodes_per_switch == 0)
        network.fail("switch_bandwidth", "has no effect without nodes_per_switch: there is one switch");
    }
    machine.network.interfaces_on_devices = network.bool_or("attached_to_devices", false);
    if (machine.network.interfaces_on_devices &&
        (machine.devices.empty() || machine.devices.size() % machine.network.interfaces != 0))
      network.fail("attached_to_devices",
                   fmt::format("distributes {} interfaces over {} devices; each must have as many devices",
                               machine.network.interfaces, machine.devices.size()));
  });
  reader.table("unified_memory",
               [&](TomlReader& unified) { machine.unified_memory = unified_memory_of(unified, machine); });
  check_buses(machine, file);
  reader.reject_unknown_keys();
  return machine;
}

}  // namespace fairlead::machine
