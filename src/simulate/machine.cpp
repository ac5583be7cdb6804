// Builds the topology and looks up rates.
#include "simulate/machine.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <fairlead/error.hpp>

#include <algorithm>
#include <span>

#include "backend/sim/shared_links.hpp"
#include "base/pages.hpp"
#include "config/value.hpp"

namespace fairlead::simulate {

namespace {

/// `first`: the device at the link's first end, if any. A port's directions are into its device and out of it.
void make_like(LinkSpec& link, const machine::LinkDescription& wire,
               const std::vector<machine::BusDescription>& buses, unsigned copies_at_once,
               std::optional<std::size_t> first = {}) {
  link.bytes_per_second = wire.bytes_per_second;
  link.duplex = wire.duplex;
  link.latency = wire.latency;
  link.concurrent_copies = copies_at_once;
  link.buses.clear();
  for (const std::string& name : wire.buses) {
    const auto bus = std::ranges::find(buses, name, &machine::BusDescription::name);
    link.buses.push_back(
        {static_cast<std::size_t>(bus - buses.begin()), bus->port_of.has_value() && bus->port_of == first});
    link.bytes_per_second =
        in_series(link.bytes_per_second,
                  link.buses.back().reversed ? bus->bytes_per_second.reversed() : bus->bytes_per_second);
  }
}

std::size_t chosen(std::optional<std::size_t> wanted, std::size_t all, const char* what,
                   const machine::MachineDescription& machine) {
  if (wanted.value_or(0) > all)
    throw ConfigError(fmt::format("the machine {} has {} {}, not {}", machine.name, all, what, *wanted));
  return wanted.value_or(all);
}

/// More memory than the machine has is an error; to simulate that, the user changes a copy of the machine file.
Bytes limited(std::optional<Bytes> wanted, Bytes all, const std::string& whose,
              const machine::MachineDescription& machine) {
  if (wanted.value_or(0) > all)
    throw ConfigError(fmt::format("{} of the machine {} has {} of memory, not {}", whose, machine.name,
                                  config::format_size(all), config::format_size(*wanted)));
  return wanted.value_or(all);
}

}  // namespace

SimulatedMachine::SimulatedMachine(machine::MachineDescription description, const MachineConfig& use,
                                   const Program& program, Precision precision)
    : description_(std::move(description)), memory_model_(use.memory_model) {
  if (use.device_bytes_per_second.value_or(1) <= 0)
    throw ConfigError("the wires to devices need a bandwidth above 0");
  if (use.device_bytes_per_second)
    for (machine::DeviceDescription& device : description_.devices)
      device.link.bytes_per_second = *use.device_bytes_per_second;
  devices_ = chosen(use.devices, description_.devices.size(), "devices", description_);
  const std::size_t cores = chosen(use.cores, description_.cores, "cores", description_);
  if (devices_ + cores == 0)
    throw ConfigError(fmt::format("of the machine {} neither a core nor a device is used: nothing can run",
                                  description_.name));
  if (devices_ + cores < description_.cores) idle_cores_ = description_.cores - cores - devices_;
  if (use.data == DataHome::disk && !description_.disk)
    throw ConfigError(
        fmt::format("the machine {} describes no [disk] on which data could be", description_.name));
  check_memory_model(use.data);
  computes_at_home_ = use.data == DataHome::ram && cores > 0;
  if (use.data == DataHome::ram && program.bytes() > description_.memory)
    throw ConfigError(fmt::format("the data of {}, {}, do not fit in the {} of the machine {}{}",
                                  program.title, config::readable_size(program.bytes()),
                                  config::format_size(description_.memory), description_.name,
                                  description_.disk ? ": let them be on its disk" : ", which has no [disk]"));
  const Bytes host = whole_pages_in(limited(use.host_memory, description_.memory, "the host", description_));
  topology_ = out_of_core_topology(cores, host, 1e9, Duration{});
  home_ = use.data == DataHome::ram ? topology_.user_memory() : topology_.store();
  for (const machine::BusDescription& bus : description_.buses)
    topology_.buses.push_back({bus.name, bus.bytes_per_second, bus.duplex});
  if (description_.disk)
    make_like(topology_.links[index(topology_.link_between(topology_.store(), topology_.host()))],
              *description_.disk, description_.buses, use.copies_at_once);
  memory_ = memory_in_all_ = host;
  kinds_of_workers_.push_back(&description_.processor(description_.core_processor));
  // Processor 0 is then all cores together, however many of them run tasks.
  const bool cores_are_shared = std::ranges::any_of(
      std::span(description_.devices).first(devices_), [](unsigned on_cores) { return on_cores > 0; },
      &machine::DeviceDescription::host_cores_per_task);
  if (cores_are_shared) processor_throughput_.push_back(static_cast<double>(description_.cores));
  for (std::size_t core = 0; core < cores; ++core) {
    for (const std::size_t together : description_.core_group_sizes)
      topology_.workers[core].domains.push_back(static_cast<unsigned>(core / together));
    kind_of_worker_.push_back(0);
    processor_of_worker_.push_back(cores_are_shared ? 0 : processor_throughput_.size());
    if (!cores_are_shared) processor_throughput_.push_back(1);
  }
  if (devices_ > 0) memory_ = ~Bytes{0}, memory_in_all_ = 0;
  for (std::size_t device = 0; device < devices_; ++device) add_device(device, use);
  const std::vector<NodeId> nodes = topology_.devices();
  for (const machine::PeerDescription& peer : description_.peers) {
    if (!use.peers || peer.second >= devices_) continue;
    const NodeId a = nodes[peer.first], b = nodes[peer.second];
    join_peers(topology_, a, b, peer.link.bytes_per_second, peer.link.latency);
    make_like(topology_.links[index(topology_.link_between(a, b))], peer.link, description_.buses,
              use.copies_at_once, peer.first);
  }
  share_processors();
  find_rates(program, precision);
}

void SimulatedMachine::share_processors() {
  if (processor_throughput_.size() < kind_of_worker_.size())
    topology_.shared = {processor_of_worker_, processor_throughput_};
  std::vector<double> taken(processor_throughput_.size());
  for (std::size_t worker = 0; worker < processor_of_worker_.size(); ++worker)
    taken[processor_of_worker_[worker]] += topology_.workers[worker].cores_used();
  for (const std::size_t processor : processor_of_worker_)
    shared_slowdown_.push_back(std::max(1.0, taken[processor] / processor_throughput_[processor]));
}

void SimulatedMachine::check_memory_model(DataHome data) const {
  if (memory_model_ == backend::MemoryModel::explicit_copies) return;
  const std::string_view model = backend::name_of(memory_model_);
  if (devices_ == 0)
    throw ConfigError(fmt::format("the memory model {} is one of devices, and none of the machine {} is used",
                                  model, description_.name));
  if (data != DataHome::ram)
    throw ConfigError(
        fmt::format("with the memory model {} data are in the host's memory, not on the disk", model));
  if (backend::is_managed(memory_model_) && !description_.unified_memory)
    throw ConfigError(fmt::format(
        "the machine {} describes no [unified_memory]: what page faults cost there is not known, so the "
        "memory model {} cannot be simulated on it (explicit and host-mapped can)",
        description_.name, model));
}

void SimulatedMachine::add_device(std::size_t number, const MachineConfig& use) {
  const machine::DeviceDescription& device = description_.devices[number];
  const machine::ProcessorDescription& processor = description_.processor(device.processor);
  const unsigned streams = use.streams.value_or(device.streams);
  const Bytes memory =
      whole_pages_in(limited(use.device_memory, device.memory, "the device " + device.name, description_));
  const NodeId node = fairlead::add_device(topology_, {.name = device.name,
                                                       .kind = processor.kind,
                                                       .capacity = memory,
                                                       .bytes_per_second = device.link.bytes_per_second,
                                                       .latency = device.link.latency,
                                                       .workers = streams,
                                                       .on_cores = device.host_cores_per_task});
  if (memory_model_ != backend::MemoryModel::explicit_copies)
    topology_.nodes[index(node)].directly_accessible_homes = {topology_.user_memory()};
  const LinkId wire = topology_.link_between(topology_.host(), node);
  make_like(topology_.links[index(wire)], device.link, description_.buses, use.copies_at_once);
  topology_.update_routes();
  auto kind = std::ranges::find(kinds_of_workers_, &processor);
  if (kind == kinds_of_workers_.end()) kind = kinds_of_workers_.insert(kind, &processor);
  for (unsigned stream = 0; stream < streams; ++stream) {
    kind_of_worker_.push_back(static_cast<std::size_t>(kind - kinds_of_workers_.begin()));
    processor_of_worker_.push_back(device.host_cores_per_task > 0 ? 0 : processor_throughput_.size());
    topology_.workers[kind_of_worker_.size() - 1].processor = processor.name;
  }
  if (device.host_cores_per_task == 0) processor_throughput_.push_back(device.concurrent_throughput);
  memory_ = std::min(memory_, memory);
  memory_in_all_ += memory;
}

void SimulatedMachine::find_stated_durations(const Program& program) {
  stated_durations_.resize(kinds_of_workers_.size());
  const std::span<const Duration> all = program.stated_durations;
  const std::size_t columns = program.processors.size();
  for (std::size_t kind = 0; kind < kinds_of_workers_.size(); ++kind) {
    const machine::ProcessorDescription& processor = *kinds_of_workers_[kind];
    // The duration on the processor itself, or else on its kind.
    const auto column_of = [&](std::string_view name) {
      return static_cast<std::size_t>(std::ranges::find(program.processors, name) -
                                      program.processors.begin());
    };
    const std::size_t own = column_of(processor.name),
                      of_kind = column_of(worker_kind_names[static_cast<std::size_t>(processor.kind)]);
    const auto duration_in = [&](std::size_t row, std::size_t column) {
      return column == columns ? Duration(-1) : all[row * columns + column];
    };
    for (std::size_t row = 0; row * columns < all.size(); ++row) {
      const Duration stated = duration_in(row, own);
      stated_durations_[kind].push_back(stated >= Duration{} ? stated : duration_in(row, of_kind));
    }
  }
}

void SimulatedMachine::find_rates(const Program& program, Precision precision) {
  find_stated_durations(program);
  std::vector<TimingIndex> stated(program.kernels.size(), TimingIndex::none);  // of a task of each kernel
  for (const ProgramTask& task : program.tasks)
    if (task.timing != TimingIndex::none) stated[static_cast<std::size_t>(task.kernel)] = task.timing;
  kinds_.assign(program.kernels.size(), 0);
  rates_.resize(kinds_of_workers_.size());
  for (std::size_t kind = 0; kind < kinds_of_workers_.size(); ++kind) {
    const bool used = std::ranges::find(kind_of_worker_, kind) != kind_of_worker_.end();
    for (std::size_t kernel = 0; kernel < program.kernels.size(); ++kernel) {
      const std::string& name = program.kernels[kernel];
      const bool has_code = kinds_of_workers_[kind]->kind == WorkerKind::cpu || !program.is_cpu_only(name);
      const machine::KernelRate* rate =
          has_code ? kinds_of_workers_[kind]->rate_of(name, name_of(precision)) : nullptr;
      if (program.takes_no_time(name))
        rate = kinds_of_workers_[kind]->kind == WorkerKind::cpu ? &at_once_ : nullptr;
      if (stated[kernel] != TimingIndex::none)
        rate = stated_durations_[kind][static_cast<std::size_t>(stated[kernel])] >= Duration{} ? &at_once_
                                                                                               : nullptr;
      rates_[kind].push_back(rate);
      if (rate != nullptr && used)
        kinds_[kernel] |= 1u << static_cast<unsigned>(kinds_of_workers_[kind]->kind);
    }
  }
  for (std::size_t kernel = 0; kernel < program.kernels.size(); ++kernel) {
    for (std::size_t a = 0; a < kinds_of_workers_.size(); ++a)
      for (std::size_t b = 0; b < a; ++b)
        if (kinds_of_workers_[a]->kind == kinds_of_workers_[b]->kind &&
            (rates_[a][kernel] == nullptr) != (rates_[b][kernel] == nullptr))
          throw ConfigError(fmt::format(
              "of the processors {} and {} of the machine {}, which are of one kind, only one runs {}",
              kinds_of_workers_[a]->name, kinds_of_workers_[b]->name, description_.name,
              program.kernels[kernel]));
    if (kinds_[kernel] == 0 && !program.takes_no_time(program.kernels[kernel])) {
      const bool cores_could = rates_.front()[kernel] != nullptr;
      throw ConfigError(fmt::format(
          "no processor of the machine {} that is used can run {} in {} precision: {}", description_.name,
          program.kernels[kernel], name_of(precision),
          stated[kernel] != TimingIndex::none
              ? fmt::format("its tasks state durations on {} only", fmt::join(program.processors, ", "))
          : program.is_cpu_only(program.kernels[kernel])
              ? "the workload has code for cores only, and none is used"
          : cores_could ? "its cores could, but none is used"
                        : "its file gives no rate for it"));
    }
  }
}

double SimulatedMachine::bus_bytes(double seconds) const {
  std::vector<double> wires;
  for (const LinkSpec& link : topology_.links) wires.push_back(link.bytes_per_second.out);
  for (const BusSpec& bus : topology_.buses) wires.push_back(bus.bytes_per_second.out);
  backend::SharedLinks shared(std::move(wires));
  std::vector<backend::SharedLinks::CopyNumber> copies;
  const auto add = [&](LinkId link) {
    std::vector<backend::SharedLinks::Crossing> crossed{
        static_cast<backend::SharedLinks::LinkIndex>(index(link))};
    for (const BusUse& use : topology_.links[index(link)].buses)
      crossed.emplace_back(static_cast<backend::SharedLinks::LinkIndex>(topology_.links.size() + use.bus));
    copies.push_back(shared.begin(Bytes{1} << 40, crossed, Time{}));
  };
  for (const NodeId device : topology_.devices()) add(topology_.link_between(topology_.host(), device));
  if (devices_ == 0) add(topology_.link_between(home_, topology_.host()));
  double rate = 0;
  for (const auto copy : copies) rate += shared.bytes_per_second(copy);
  return rate * seconds;
}

}  // namespace fairlead::simulate
