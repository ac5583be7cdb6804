// Runs the engine of real runs on the simulated machine.
#include "simulate/simulation.hpp"

#include <fmt/format.h>
#include <fairlead/codelet_info.hpp>
#include <fairlead/cyclic_map.hpp>
#include <fairlead/place_hint.hpp>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <unordered_map>

#include "backend/sim/sim_world.hpp"
#include "backend/sim/timeline.hpp"
#include "engine/trace_snapshot.hpp"
#include "front/flow/flow_source.hpp"
#include "front/what_if/simulation_runners.hpp"
#include "schedule/policies.hpp"
#include "simulate/longest_path.hpp"
#include "simulate/timed_policy.hpp"

namespace fairlead::simulate {

namespace {

constexpr Bytes page = 4096;
constexpr std::size_t submitted_per_check = 1024;  // a stop is then noticed in milliseconds

/// The explicit predecessors of tasks, in program order.
class Predecessors {
 public:
  explicit Predecessors(const Program& program) : program_(program) {
    for (const std::uint32_t task : program.predecessors)
      if (std::shared_ptr<front::ObservedTask>& watched = watched_[task]; watched == nullptr)
        watched = std::make_shared<front::ObservedTask>();
  }
  front::SubmissionOrder next(const ProgramTask& task) {
    front::SubmissionOrder order;
    for (std::uint32_t i = 0; i < task.predecessors; ++i)
      order.after.push_back(watched_.at(program_.predecessors[first_++]));
    return order;
  }
  /// Null for a task that precedes no other.
  std::shared_ptr<front::ObservedTask> watched(std::size_t task) const {
    const auto found = watched_.find(static_cast<std::uint32_t>(task));
    return found == watched_.end() ? nullptr : found->second;
  }

 private:
  const Program& program_;
  std::size_t first_ = 0;
  std::unordered_map<std::uint32_t, std::shared_ptr<front::ObservedTask>> watched_;
};

class Run {
 public:
  Run(const Program& program, const SimulatedMachine& machine, std::unique_ptr<Policy> policy,
      const std::string& policy_name, const SimulationOptions& options)
      : program_(program),
        machine_(machine),
        options_(options),
        world_(sim_options()),
        core_(core_options(std::move(policy), policy_name), world_),
        data_(program.data.size()),
        expected_times_(by_kernel(options.misjudged, program)) {
    for (std::size_t kernel = 0; kernel < program.kernels.size(); ++kernel) {
      CodeletInfo& info = codelets_.emplace_back();
      info.name = program.kernels[kernel];
      info.kinds = machine.kinds(static_cast<KernelIndex>(kernel));
    }
    Bytes offset = 0;
    for (std::size_t i = 0; i < data_.size(); ++i) {
      const ProgramDatum& datum = program.data[i];
      data_[i].owner = this;
      data_[i].name = [](const void* owner, const engine::RegisteredDatum& named) {
        return static_cast<const Run*>(owner)->name(index(named.id));
      };
      core_.register_datum(data_[i], {.bytes = datum.bytes,
                                      .home = machine.home(),
                                      .home_offset = offset,
                                      .coordinates = {datum.collection, datum.row, datum.column}});
      if (const int device = advice_for(datum); device != no_device) core_.advise(data_[i], device);
      data_[i].in_place = machine.home() == machine.topology().user_memory();
      data_[i].ever_written = datum.has_value;
      offset += (datum.bytes + page - 1) / page * page;
    }
  }

  void write_log() const {
    if (!options_.event_log.empty())
      core_.engine().journal().log().write(options_.event_log, core_.engine().log_head());
  }

  SimulationResult run() {
    const auto begun = std::chrono::steady_clock::now();
    {
      Predecessors predecessors(program_);
      front::FlowSource flow(core_);
      std::vector<front::Submission::Use> uses;
      std::vector<std::int32_t> priorities;
      if (options_.priorities == Priorities::time) priorities = priorities_by_time(program_, machine_);
      program_.for_each_task([&](const ProgramTask& task, std::span<const ProgramUse> used) {
        uses.clear();
        for (const ProgramUse& use : used)
          uses.push_back({&data_[static_cast<std::size_t>(use.datum)], use.mode});
        front::Submission submission;
        submission.codelet = &codelets_[static_cast<std::size_t>(task.kernel)];
        submission.uses = uses;
        const auto number = static_cast<std::size_t>(&task - program_.tasks.data());
        if (number % submitted_per_check == 0 && options_.stop_requested != nullptr &&
            options_.stop_requested->load())
          throw backend::SimulationStopped();
        submission.priority = priorities.empty() ? task.priority : priorities[number];
        submission.work = task.flops;
        submission.file = program_.title.c_str();
        submission.line = static_cast<std::uint32_t>(number);
        if (program_.predecessors.empty()) return flow.submit(submission);
        const front::SubmissionOrder order = predecessors.next(task);
        flow.submit(submission, nullptr, predecessors.watched(number), &order);
      });
      flow.wait();
      core_.home_values().flush();
      world_.bring_home();
      result_.tasks = flow.submitted();
    }
    result_.seconds = seconds(world_.now());
    result_.simulation_seconds =
        std::chrono::duration<double>(std::chrono::steady_clock::now() - begun).count();
    result_.decision_seconds = seconds(decisions_.all());
    result_.events = world_.events();
    result_.active_policy = core_.engine().policy().active_policy();
    result_.digest = core_.engine().journal().digest().value();
    core_.engine().locked([&](const memory::Memory& memory) { count(memory); });
    for (const WorkerInfo& worker : core_.engine().view().workers()) {
      const engine::Pipeline& pipeline = core_.engine().pipelines()[worker.id];
      result_.workers.push_back({.busy_seconds = seconds(pipeline.busy),
                                 .waiting_for_data_seconds = seconds(pipeline.waiting_for_data),
                                 .waiting_for_tasks_seconds = seconds(pipeline.waiting_for_tasks),
                                 .tasks = pipeline.tasks_run,
                                 .on_device = worker.kind != WorkerKind::cpu});
    }
    if (options_.trace_memory != 0)
      result_.recorded =
          engine::trace_snapshot(core_.engine(), [this](DatumId id) { return core_.names().text(id); });
    std::ranges::stable_sort(result_.order, {}, &TaskRun::start);
    return std::move(result_);
  }

 private:
  /// The line of its source location is the task's index in the program.
  const ProgramTask& program_task(const Task& task) const { return program_.tasks[task.submitted_at.line]; }

  int advice_for(const ProgramDatum& datum) const {
    return device_of(options_.advice, static_cast<std::int32_t>(machine_.devices()), datum.row, datum.column);
  }

  std::string name(std::size_t datum) const {
    if (datum >= program_.data.size()) return fmt::format("datum {}", datum);
    if (!program_.names.empty()) return program_.names[datum];
    const ProgramDatum& it = program_.data[datum];
    return fmt::format("{}[{},{}]", program_.collections[static_cast<std::size_t>(it.collection)], it.row,
                       it.column);
  }

  backend::SimOptions sim_options() {
    backend::SimOptions sim;
    sim.seed = options_.seed;
    sim.noise_percent = options_.noise_percent;
    sim.slow = by_worker(options_.slow, machine_.topology());
    sim.most_events = options_.most_events;
    sim.stop_requested = options_.stop_requested;
    sim.duration = [this](const Task& task, WorkerId worker) {
      return machine_.duration(program_task(task), worker);
    };
    sim.memory_model = machine_.memory_model();
    if (backend::is_managed(sim.memory_model)) sim.unified_memory = *machine_.description().unified_memory;
    sim.has_value = [this](DatumId id) {
      return index(id) < program_.data.size() && program_.data[index(id)].has_value;
    };
    if (options_.charge_decisions)
      sim.decision_time = [this](WorkerId worker) { return decisions_.take_charge(worker); };
    if (options_.keep_order) {
      sim.on_start = [this](Task&, WorkerId worker) {
        if (index(worker) >= started_.size()) started_.resize(index(worker) + 1u);
        started_[index(worker)] = world_.now();
      };
      sim.on_end = [this](Task& task, WorkerId worker, bool) {
        result_.order.push_back({task.submitted_at.line, worker, started_[index(worker)], world_.now()});
      };
    }
    return sim;
  }

  engine::CoreOptions core_options(std::unique_ptr<Policy> policy, const std::string& policy_name) {
    engine::CoreOptions core;
    core.topology = machine_.topology();
    core.policy = timed(std::move(policy), decisions_, options_.decision_clock);
    core.engine.policy_name = policy_name;
    core.engine.pipeline_depth = options_.pipeline_depth;
    core.engine.seed = options_.seed;
    core.engine.trace_memory = options_.trace_memory;
    core.engine.what_if_simulation = front::virtual_time_simulations(world_, machine_.idle_cores());
    core.engine.log = !options_.event_log.empty();
    if (!options_.first_run)
      core.engine.estimate = [this](const Task& task, WorkerId worker) {
        const ProgramTask& it = program_task(task);
        const Duration learned = machine_.expected(it, worker);
        if (options_.misjudged.empty()) return learned;
        const double expected =
            static_cast<double>(learned.count()) * expected_times_[static_cast<std::size_t>(it.kernel)];
        return std::max(Duration(1), Duration(std::llround(expected)));
      };
    core.fixed_order = options_.fixed_order;
    core.refresh = false;  // as in the papers, time is measured until the last task has finished
    core.window = options_.window != 0 ? options_.window : program_.tasks.size() + 1;  // never full
    return core;
  }

  /// The traffic on a link: copies of the engine, and transfers by the page driver and by the kernels themselves.
  memory::LinkTraffic traffic_of(const memory::Memory& memory, std::size_t link) const {
    memory::LinkTraffic all = memory.transfers().traffic()[link];
    const auto add = [&](const memory::LinkTraffic& more) {
      for (std::size_t cause = 0; cause < memory::cause_count; ++cause) {
        all.from_home[cause].bytes += more.from_home[cause].bytes;
        all.from_home[cause].copies += more.from_home[cause].copies;
        all.to_home[cause].bytes += more.to_home[cause].bytes;
        all.to_home[cause].copies += more.to_home[cause].copies;
      }
    };
    add(world_.mapped_traffic()[link]);
    if (world_.page_driver() != nullptr) add(world_.page_driver()->traffic()[link]);
    return all;
  }

  void add_to_total(std::string_view sort, const report::LinkReport& link) {
    auto total = std::ranges::find(result_.totals, sort, &report::LinkReport::name);
    if (total == result_.totals.end())
      total = result_.totals.insert(total, {.name = std::string(sort), .from_home = {}, .to_home = {}});
    const auto add = [](auto& sums, const auto& counts) {
      for (std::size_t cause = 0; cause < memory::cause_count; ++cause) {
        sums[cause].bytes += counts[cause].bytes;
        sums[cause].copies += counts[cause].copies;
      }
    };
    add(total->from_home, link.from_home);
    add(total->to_home, link.to_home);
  }

  void count(const memory::Memory& memory) {
    const Topology& topology = memory.topology();
    for (std::size_t i = 0; i < topology.links.size(); ++i) {
      const LinkSpec& link = topology.links[i];
      const memory::LinkTraffic traffic = traffic_of(memory, i);
      const Bytes away = traffic.bytes(traffic.from_home), back = traffic.bytes(traffic.to_home);
      if (!link.physical_links.empty()) continue;  // counted on the links that it crosses
      report::LinkReport& report = result_.links.emplace_back();
      report.name = link.name;
      for (std::size_t cause = 0; cause < memory::cause_count; ++cause) {
        report.from_home[cause] = {traffic.from_home[cause].bytes, traffic.from_home[cause].copies};
        report.to_home[cause] = {traffic.to_home[cause].bytes, traffic.to_home[cause].copies};
      }
      report.busy_seconds = seconds(traffic.busy);
      if (topology.has_kind(link.first, MemoryKind::store)) {
        add_to_total("disk", report);
        result_.bytes_from_disk += away;
        result_.bytes_to_disk += back;
      } else if (topology.has_kind(link.first, MemoryKind::host)) {
        add_to_total("devices", report);
        result_.bytes_to_devices += away;
        result_.bytes_from_devices += back;
      } else if (topology.has_kind(link.first, MemoryKind::device)) {
        add_to_total("between devices", report);
        result_.bytes_between_devices += away + back;
      }
    }
    for (const NodeInfo& info : core_.engine().view().caches()) {
      const memory::MemoryNode& node = memory.node(info.id);
      const bool managed = world_.page_driver() != nullptr && topology.has_kind(info.id, MemoryKind::device);
      const Bytes peak = managed ? world_.page_driver()->peak_bytes(info.id) : node.peak_bytes.get();
      result_.nodes.push_back({topology.nodes[index(info.id)].name, info.capacity, peak});
      result_.evictions += node.evictions;
    }
    result_.stalled_seconds = seconds(world_.stalled());
    if (world_.page_driver() == nullptr) return;
    result_.fault_batches = world_.page_driver()->fault_batches();
    result_.evictions += world_.page_driver()->evictions();
  }

  const Program& program_;
  const SimulatedMachine& machine_;
  const SimulationOptions& options_;
  SimulationResult result_;
  PolicyTime decisions_;
  std::vector<Time> started_;
  backend::SimWorld world_;
  engine::RuntimeCore core_;
  std::deque<CodeletInfo> codelets_;
  std::vector<engine::RegisteredDatum> data_;
  const std::vector<double> expected_times_;  // by kernel: estimated duration divided by the actual one
};

}  // namespace

namespace {
SimulationResult result_of(Run&& run) {
  SimulationResult result;
  try {
    result = run.run();
  } catch (const Error&) {
    run.write_log();  // the log shows the error
    throw;
  }
  run.write_log();
  return result;
}
}  // namespace

SimulationResult simulate(const Program& program, const SimulatedMachine& machine, const std::string& policy,
                          const SimulationOptions& options) {
  return result_of({program, machine, schedule::make_policy(policy), policy, options});
}

SimulationResult simulate(const Program& program, const SimulatedMachine& machine,
                          std::unique_ptr<Policy> policy, const SimulationOptions& options) {
  return result_of({program, machine, std::move(policy), "", options});
}

}  // namespace fairlead::simulate
