// Runs a program's tasks as codelets whose bodies sleep.
#include "simulate/emulated.hpp"

#include <fmt/format.h>
#include <fairlead/fairlead.hpp>

#include <algorithm>
#include <chrono>
#include <latch>
#include <thread>
#include <utility>
#include <vector>

namespace fairlead::simulate {

namespace {

using Clock = std::chrono::steady_clock;
using Data = Vector<double>;

/// The argument of a body: how long it sleeps, and an optional latch to wait for first.
struct Nap {
  std::int64_t nanoseconds = 0;
  std::latch* after = nullptr;
};
void sleep(const Nap& nap) {
  if (nap.after != nullptr) nap.after->wait();
  std::this_thread::sleep_until(Clock::now() + std::chrono::nanoseconds(nap.nanoseconds));
}

constexpr auto update_alone = [](InOut<Data>, Nap nap) { sleep(nap); };
constexpr auto update_by_one = [](In<Data>, InOut<Data>, Nap nap) { sleep(nap); };
constexpr auto update_by_two = [](In<Data>, In<Data>, InOut<Data>, Nap nap) { sleep(nap); };

/// A kernel's codelets, one for each form of task.
struct Codelets {
  explicit Codelets(const std::string& name)
      : alone(codelet(name).emulated(update_alone)),
        by_one(codelet(name).emulated(update_by_one)),
        by_two(codelet(name).emulated(update_by_two)) {}
  decltype(codelet("").emulated(update_alone)) alone;
  decltype(codelet("").emulated(update_by_one)) by_one;
  decltype(codelet("").emulated(update_by_two)) by_two;
};

[[noreturn]] void cannot(const char* what) {
  throw ConfigError(fmt::format("emulated accelerators have no {}", what));
}

/// The value of the setting `devices`.
std::string devices_of(const Topology& topology) {
  std::string list;
  for (const NodeId node : topology.devices()) {
    const LinkSpec& wire = topology.links[index(topology.link_between(topology.host(), node))];
    if (wire.bytes_per_second.out != wire.bytes_per_second.in)
      cannot("wires that are slower in one direction");
    if (!wire.buses.empty()) cannot("buses");
    if (topology.workers_on(node) != 1) cannot("several streams here");
    if (wire.latency.count() % 1000 != 0) cannot("latency of parts of a microsecond");
    list += fmt::format("{}emulated:memory={}B,bandwidth={:.0f}B/s,duplex={},latency={}",
                        list.empty() ? "" : " + ", topology.nodes[index(node)].capacity,
                        wire.bytes_per_second.out, wire.duplex ? "yes" : "no", wire.latency.count() / 1000);
    for (const NodeId other : topology.devices()) {
      if (other == node) continue;
      const LinkSpec& peer = topology.links[index(topology.link_between(node, other))];
      if (!peer.physical_links.empty()) continue;
      list += fmt::format(",peers={:.0f}B/s", peer.bytes_per_second.out);
      break;
    }
  }
  if (list.empty()) throw ConfigError("nothing to emulate: the machine has no devices");
  return list;
}

void check_form(std::span<const ProgramUse> uses) {
  const auto reads_only = [](const ProgramUse& use) { return use.mode == AccessMode::read; };
  if (uses.empty() || uses.size() > 3 || uses.back().mode != AccessMode::read_write ||
      !std::ranges::all_of(uses.first(uses.size() - 1), reads_only))
    cannot("tasks of other forms here than to read up to two data and update one");
}

class Emulation {
 public:
  Emulation(const Program& program, const SimulatedMachine& machine, const std::string& policy,
            std::size_t pipeline_depth)
      : program_(program), machine_(machine), runtime_(config_of(policy, pipeline_depth)) {
    if (machine.home() != machine.topology().user_memory()) cannot("data on a disk here");
    for (const ProgramDatum& datum : program.data) {
      if (datum.bytes % sizeof(double) != 0) cannot("data whose sizes are no multiples of eight bytes here");
      memory_.emplace_back(datum.bytes / sizeof(double));
      data_.push_back(runtime_.vector(fmt::format("datum {}", data_.size()), memory_.back().data(),
                                      static_cast<std::int64_t>(memory_.back().size())));
    }
    program.for_each_task([](const ProgramTask&, std::span<const ProgramUse> uses) { check_form(uses); });
    for (const std::string& kernel : program.kernels) codelets_.emplace_back(kernel);
    const auto& workers = machine.topology().workers;
    first_device_worker_ = static_cast<std::size_t>(
        std::ranges::find_if(workers, [host = machine.topology().host()](
                                          const WorkerSpec& worker) { return worker.node != host; }) -
        workers.begin());
  }

  EmulatedRun run() {
    Flow flow(runtime_);
    bool first = true;
    program_.for_each_task([&](const ProgramTask& task, std::span<const ProgramUse> uses) {
      const auto duration = machine_.duration(task, static_cast<WorkerId>(first_device_worker_));
      submit(flow, task, uses, {duration.count(), std::exchange(first, false) ? &submitted_ : nullptr});
    });
    const Clock::time_point begun = Clock::now();
    submitted_.count_down();
    flow.wait();
    runtime_.flush();
    EmulatedRun result;
    result.seconds = std::chrono::duration<double>(Clock::now() - begun).count();
    for (const Statistics::Link& link : runtime_.statistics().links) {
      if (link.home == "RAM") {
        result.bytes_to_devices += link.bytes_from_home();
        result.bytes_from_devices += link.bytes_to_home();
      } else if (link.home.starts_with("emulated")) {
        result.bytes_between_devices += link.bytes_from_home() + link.bytes_to_home();
      }
    }
    return result;
  }

 private:
  Config config_of(const std::string& policy, std::size_t pipeline_depth) const {
    const Topology& topology = machine_.topology();
    Config config;
    config.set("workers", std::to_string(std::max<std::size_t>(1, topology.workers_on(topology.host()))));
    config.set("bind-threads", false);
    config.set("huge-pages", false);
    config.set("memory", fmt::format("{}B", topology.nodes[index(topology.host())].capacity));
    config.set("devices", devices_of(topology));
    config.set("scheduler", policy);
    config.set("window", std::to_string(program_.tasks.size() + 1));
    if (pipeline_depth != 0) config.set("pipeline-depth", std::to_string(pipeline_depth));
    return config;
  }

  void submit(Flow& flow, const ProgramTask& task, std::span<const ProgramUse> uses, Nap nap) {
    const auto datum = [&](std::size_t i) -> auto& { return data_[static_cast<std::size_t>(uses[i].datum)]; };
    const Codelets& codelets = codelets_[static_cast<std::size_t>(task.kernel)];
    if (uses.size() == 1)
      flow.submit(codelets.alone(datum(0), nap).priority(task.priority));
    else if (uses.size() == 2)
      flow.submit(codelets.by_one(datum(0), datum(1), nap).priority(task.priority));
    else
      flow.submit(codelets.by_two(datum(0), datum(1), datum(2), nap).priority(task.priority));
  }

  const Program& program_;
  const SimulatedMachine& machine_;
  std::latch submitted_{1};
  std::vector<std::vector<double>> memory_;
  Runtime runtime_;
  std::vector<Handle<Data>> data_;
  std::vector<Codelets> codelets_;
  std::size_t first_device_worker_ = 0;
};

}  // namespace

EmulatedRun run_emulated(const Program& program, const SimulatedMachine& machine, const std::string& policy,
                         std::size_t pipeline_depth) {
  return Emulation(program, machine, policy, pipeline_depth).run();
}

}  // namespace fairlead::simulate
