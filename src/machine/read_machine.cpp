// Reads a machine from TOML; docs/machines.md has the format. With config/file.cpp the only source files that
// include toml++.
#include <fmt/format.h>
#include <toml++/toml.h>
#include <fairlead/error.hpp>
#include <fairlead/setting.hpp>

#include <algorithm>
#include <set>
#include <string>

#include "base/suggest.hpp"
#include "config/value.hpp"
#include "machine/description.hpp"

namespace fairlead::machine {

namespace {

/// One table of the file. What is in it and was never asked for is a mistake.
class Reader {
 public:
  Reader(const toml::table& table, std::string_view file, std::string what)
      : table_(table), file_(file), what_(std::move(what)) {}

  [[noreturn]] void fail(std::string_view key, const std::string& why) const {
    const toml::node* node = table_.get(key);
    const auto line = node != nullptr ? node->source().begin.line : table_.source().begin.line;
    throw ConfigError(fmt::format("{}:{}: {} of {} {}", file_, line, key, what_, why));
  }
  bool has(std::string_view key) {
    known_.emplace(key);
    return table_.contains(key);
  }
  const toml::node& node(std::string_view key) {
    if (!has(key)) fail(key, "is missing");
    return *table_.get(key);
  }
  std::string text(std::string_view key) {
    const auto* value = node(key).as_string();
    if (value == nullptr) fail(key, "must be a string");
    return value->get();
  }
  std::string text_or(std::string_view key, std::string otherwise) {
    return has(key) ? text(key) : otherwise;
  }
  bool flag_or(std::string_view key, bool otherwise) {
    if (!has(key)) return otherwise;
    const auto* value = node(key).as_boolean();
    if (value == nullptr) fail(key, "must be true or false");
    return value->get();
  }
  double number(std::string_view key, double least, double most) {
    return number_of(node(key), key, least, most);
  }
  double number_or(std::string_view key, double otherwise, double least, double most) {
    return has(key) ? number(key, least, most) : otherwise;
  }
  std::size_t count(std::string_view key, std::size_t least, std::size_t most) {
    const auto* value = node(key).as_integer();
    if (value == nullptr || value->get() < static_cast<std::int64_t>(least) ||
        value->get() > static_cast<std::int64_t>(most))
      fail(key, fmt::format("must be a whole number from {} to {}", least, most));
    return static_cast<std::size_t>(value->get());
  }
  std::size_t count_or(std::string_view key, std::size_t otherwise, std::size_t least, std::size_t most) {
    return has(key) ? count(key, least, most) : otherwise;
  }
  Bytes size(std::string_view key) { return quantity(key, SettingType::size, "a size such as \"32GB\""); }
  double bandwidth(std::string_view key) {
    return static_cast<double>(quantity(key, SettingType::bandwidth, "a bandwidth such as \"12GB/s\""));
  }
  Duration microseconds_or(std::string_view key, double otherwise) {
    return Duration(static_cast<std::int64_t>(number_or(key, otherwise, 0, 1e9) * 1e3));
  }
  std::vector<std::string> texts_or_none(std::string_view key) {
    std::vector<std::string> all;
    if (!has(key)) return all;
    const auto* array = node(key).as_array();
    if (array == nullptr) fail(key, "must be a list of strings");
    for (const toml::node& one : *array) {
      if (!one.is_string()) fail(key, "must be a list of strings");
      all.push_back(one.as_string()->get());
    }
    return all;
  }
  /// Lists of two numbers each.
  std::vector<std::pair<double, double>> pairs(std::string_view key) {
    std::vector<std::pair<double, double>> all;
    const auto* array = node(key).as_array();
    if (array == nullptr) fail(key, "must be a list of pairs, as in [[320, 5], [960, 9]]");
    for (const toml::node& one : *array) {
      const auto* two = one.as_array();
      if (two == nullptr || two->size() != 2)
        fail(key, "must be a list of pairs, as in [[320, 5], [960, 9]]");
      all.emplace_back(number_of(*two->get(0), key, 0, 1e18), number_of(*two->get(1), key, 0, 1e18));
    }
    return all;
  }
  /// Calls f(Reader) for each table of the list `key`, if it is there.
  template <class F>
  void each(std::string_view key, F&& f) {
    if (!has(key)) return;
    const auto* array = node(key).as_array();
    if (array == nullptr || !array->is_array_of_tables())
      fail(key, fmt::format("must be tables, each headed [[{}]] or in a list of {{ ... }}", key));
    for (const toml::node& one : *array) {
      Reader reader(*one.as_table(), file_, fmt::format("a [[{}]]", key));
      f(reader);
      reader.require_all_known();
    }
  }
  /// Calls f(Reader, name) for the table of that name, if it is there.
  template <class F>
  void table(std::string_view key, F&& f) {
    if (!has(key)) return;
    const auto* inner = node(key).as_table();
    if (inner == nullptr) fail(key, fmt::format("must be a table, headed [{}]", key));
    Reader reader(*inner, file_, fmt::format("[{}]", key));
    f(reader);
    reader.require_all_known();
  }
  std::vector<std::string> keys() const {
    std::vector<std::string> all;
    for (const auto& [key, value] : table_) all.emplace_back(key.str());
    return all;
  }
  void require_all_known() const {
    const std::vector<std::string_view> known(known_.begin(), known_.end());
    for (const auto& [key, value] : table_)
      if (!known_.contains(std::string(key.str())))
        throw ConfigError(fmt::format("{}:{}: {} knows no \"{}\"{}; it knows {}", file_,
                                      value.source().begin.line, what_, key.str(),
                                      did_you_mean(key.str(), known), fmt::join(known, ", ")));
  }

 private:
  double number_of(const toml::node& one, std::string_view key, double least, double most) const {
    const std::optional<double> value = one.value<double>();
    if (!one.is_number() || !value || !(*value >= least && *value <= most))
      fail(key, fmt::format("must be a number from {} to {}", least, most));
    return *value;
  }
  std::uint64_t quantity(std::string_view key, SettingType type, std::string_view wanted) {
    const Setting setting{.key = key, .type = type, .minimum = type == SettingType::size ? "1" : "1B/s"};
    const config::Reading reading = config::read_value(setting, text(key));
    if (!reading.problem.empty()) fail(key, fmt::format("is \"{}\", but must be {}", text(key), wanted));
    return std::get<std::uint64_t>(reading.value);
  }

  const toml::table& table_;
  std::string_view file_;
  std::string what_;
  std::set<std::string> known_;
};

constexpr std::size_t most_devices = 28;  // nodes are bits of a word

WireDescription wire_of(Reader& reader) {
  return {.bytes_per_second = reader.bandwidth("bandwidth"),
          .duplex = reader.flag_or("duplex", true),
          .latency = reader.microseconds_or("latency_microseconds", 10),
          .buses = reader.texts_or_none("buses")};
}

KernelRate rate_of(Reader& reader) {
  KernelRate rate;
  rate.kernel = reader.text("kernel");
  rate.precision = reader.text_or("precision", "");
  if (!rate.precision.empty() && rate.precision != "single" && rate.precision != "double")
    reader.fail("precision", "must be \"single\" or \"double\", or left out for both");
  if (reader.has("by_side")) {
    for (const auto& [side, gflops] : reader.pairs("by_side")) {
      if (!(gflops > 0) || (!rate.by_side.empty() && side <= rate.by_side.back().first))
        reader.fail("by_side", "must have growing sides, and rates above 0");
      rate.by_side.emplace_back(side, gflops * 1e9);
    }
    if (rate.by_side.empty()) reader.fail("by_side", "must name at least one side and its rate");
  } else {
    rate.flops_per_second = reader.number("gflops", 1e-6, 1e12) * 1e9;
    rate.half_side = reader.number_or("half_side", 0, 0, 1e9);
  }
  rate.overhead = reader.microseconds_or("overhead_microseconds", 0);
  return rate;
}

void read_processors(Reader& all, MachineDescription& machine) {
  for (const std::string& name : all.keys())
    all.table(name, [&](Reader& reader) {
      ProcessorDescription processor{.name = name, .kind = {}, .rates = {}};
      const std::string kind = reader.text("kind");
      if (kind == "cpu")
        processor.kind = WorkerKind::cpu;
      else if (kind == "cuda")
        processor.kind = WorkerKind::cuda;
      else if (kind == "opencl")
        processor.kind = WorkerKind::opencl;
      else
        reader.fail("kind", fmt::format("is \"{}\", but must be \"cpu\", \"cuda\" or \"opencl\"", kind));
      reader.each("rate", [&](Reader& rate) { processor.rates.push_back(rate_of(rate)); });
      if (processor.rates.empty())
        reader.fail("rate", "must be given at least once, as [[processor.NAME.rate]]");
      machine.processors.push_back(std::move(processor));
    });
}

void read_devices(Reader& reader, MachineDescription& machine) {
  const DeviceDescription device{.name = reader.text_or("name", "gpu"),
                                 .processor = reader.text("processor"),
                                 .memory = reader.size("memory"),
                                 .streams = static_cast<unsigned>(reader.count_or("streams", 1, 1, 64)),
                                 .together = reader.number_or("together", 1, 1, 64),
                                 .wire = wire_of(reader)};
  machine.processor(device.processor);
  const std::size_t count = reader.count_or("count", 1, 1, most_devices);
  for (std::size_t i = 0; i < count; ++i) {
    if (machine.devices.size() == most_devices)
      reader.fail("count", fmt::format("makes more than {} devices", most_devices));
    machine.devices.push_back(device);
    machine.devices.back().name = fmt::format("{} {}", device.name, machine.devices.size() - 1);
  }
}

std::string port_name(std::size_t device) { return fmt::format("port of device {}", device); }

/// A bus for each device, through which its copies from and to all its peers go.
void add_ports(Reader& reader, MachineDescription& machine, const WireDescription& wire) {
  for (std::size_t device = 0; device < machine.devices.size(); ++device) {
    if (std::ranges::find(machine.buses, port_name(device), &BusDescription::name) != machine.buses.end())
      reader.fail("ports", fmt::format("makes a second \"{}\"", port_name(device)));
    machine.buses.push_back({.name = port_name(device),
                             .bytes_per_second = wire.bytes_per_second,
                             .duplex = wire.duplex,
                             .port_of = device});
  }
}

void read_peers(Reader& reader, MachineDescription& machine) {
  const WireDescription wire = wire_of(reader);
  const bool ports = reader.flag_or("ports", false), all = reader.flag_or("all", false);
  if (ports) add_ports(reader, machine, wire);
  const auto add = [&](std::size_t a, std::size_t b) {
    const std::size_t first = std::min(a, b), second = std::max(a, b);
    for (const PeerDescription& other : machine.peers)
      if (other.first == first && other.second == second)
        reader.fail(all ? "all" : "between", fmt::format("joins devices {} and {} once more", first, second));
    machine.peers.push_back({first, second, wire});
    if (!ports) return;
    for (const std::size_t device : {first, second})
      machine.peers.back().wire.buses.push_back(port_name(device));
  };
  if (all) {
    for (std::size_t b = 0; b < machine.devices.size(); ++b)
      for (std::size_t a = 0; a < b; ++a) add(a, b);
    return;
  }
  for (const auto& [first, second] : reader.pairs("between")) {
    const auto a = static_cast<std::size_t>(first), b = static_cast<std::size_t>(second);
    if (a == b || std::max(a, b) >= machine.devices.size())
      reader.fail("between",
                  machine.devices.size() < 2
                      ? fmt::format("needs two devices; there are {}", machine.devices.size())
                      : fmt::format("joins devices {} and {}; there are 0 to {}, and a pair has two", first,
                                    second, machine.devices.size() - 1));
    add(a, b);
  }
}

void check_buses(const MachineDescription& machine, std::string_view file) {
  std::vector<std::string_view> names;
  for (const BusDescription& bus : machine.buses) names.push_back(bus.name);
  const auto check = [&](const WireDescription& wire, const std::string& whose) {
    for (const std::string& bus : wire.buses)
      if (std::ranges::find(names, bus) == names.end())
        throw ConfigError(fmt::format("{}: {} goes through the bus \"{}\", which no [[bus]] describes{}",
                                      file, whose, bus, did_you_mean(bus, names)));
  };
  for (const DeviceDescription& device : machine.devices) check(device.wire, device.name);
  for (const PeerDescription& peer : machine.peers)
    check(peer.wire, fmt::format("the wire between the devices {} and {}", peer.first, peer.second));
  if (machine.disk) check(*machine.disk, "the disk");
}

}  // namespace

MachineDescription read_machine(std::string_view text, std::string_view file) {
  toml::table table;
  try {
    table = toml::parse(text, file);
  } catch (const toml::parse_error& error) {
    throw ConfigError(
        fmt::format("{}:{}: not TOML: {}", file, error.source().begin.line, error.description()));
  }
  MachineDescription machine;
  Reader reader(table, file, "a machine");
  machine.name = reader.text("name");
  machine.summary = reader.text("summary");
  machine.source = reader.text("source");
  reader.table("processor", [&](Reader& all) { read_processors(all, machine); });
  if (machine.processors.empty()) reader.fail("processor", "is missing: describe one as [processor.NAME]");
  reader.table("host", [&](Reader& host) {
    machine.cores = host.count("cores", 0, 4096);
    machine.core = host.text("core");
    machine.memory = host.size("memory");
    if (machine.processor(machine.core).kind != WorkerKind::cpu)
      host.fail("core", "must be a processor of kind \"cpu\"");
  });
  if (machine.memory == 0) reader.fail("host", "is missing: describe cores and memory in [host]");
  reader.each("bus", [&](Reader& bus) {
    machine.buses.push_back({.name = bus.text("name"),
                             .bytes_per_second = bus.bandwidth("bandwidth"),
                             .duplex = bus.flag_or("duplex", true)});
  });
  reader.table("disk", [&](Reader& disk) { machine.disk = wire_of(disk); });
  reader.each("device", [&](Reader& device) { read_devices(device, machine); });
  reader.each("peers", [&](Reader& peers) { read_peers(peers, machine); });
  reader.table("network", [&](Reader& network) {
    machine.network.nodes = network.count("nodes", 1, 1'000'000);
    machine.network.interfaces = network.count_or("interfaces", 1, 1, 64);
    machine.network.wire = wire_of(network);
    machine.network.nodes_per_switch = network.count_or("nodes_per_switch", 0, 0, 1'000'000);
    if (network.has("switch_bandwidth"))
      machine.network.switch_bytes_per_second = network.bandwidth("switch_bandwidth");
    machine.network.attached_to_devices = network.flag_or("attached_to_devices", false);
    if (machine.network.attached_to_devices &&
        (machine.devices.empty() || machine.devices.size() % machine.network.interfaces != 0))
      network.fail("attached_to_devices",
                   fmt::format("gives {} interfaces to {} devices, which must be as many for each",
                               machine.network.interfaces, machine.devices.size()));
  });
  check_buses(machine, file);
  reader.require_all_known();
  return machine;
}

}  // namespace fairlead::machine
