// Drawn from one generator, in a fixed order.
#include "random/plan.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <utility>
#include <vector>

#include "base/bytes_text.hpp"
#include "random/machine.hpp"
#include "schedule/policies.hpp"

namespace fairlead::random_runs {

RunOptions options_of(std::uint64_t seed) {
  const auto policies = schedule::policies();
  Random random(Random::mix(seed + 0x5eed));
  RunOptions options;
  options.policy = policies[seed % policies.size()].name;
  options.tight = !random.once_in(3);
  // Long runs test for starvation.
  options.tasks =
      static_cast<std::size_t>(random.once_in(5) ? random.between(200, 400) : random.between(20, 150));
  if (random.once_in(3)) return options;  // no faults
  options.copies_fail = random.once_in(3);
  options.write_backs_fail = random.once_in(5);
  options.tasks_fail = random.once_in(3);
  options.cancels = random.once_in(3);
  options.holds = random.once_in(2);
  options.devices_are_lost = random.once_in(3);
  return options;
}

namespace {

/// In a quarter of the runs, at any time until about `last`; possibly all workers of a node. For each kind some remain on
/// the first node that has any, and on the largest: tasks that fit or may be folded only there can run.
std::vector<backend::WorkerLoss> lost_workers(Random random, const Topology& machine, std::int64_t last) {
  std::vector<backend::WorkerLoss> lost;
  if (!random.once_in(4)) return lost;
  std::map<std::pair<WorkerKind, NodeId>, std::size_t> left;
  std::map<WorkerKind, std::pair<NodeId, NodeId>> kept;  // the first, the largest
  for (const WorkerSpec& worker : machine.workers) {
    ++left[{worker.kind, worker.node}];
    NodeId& largest = kept.try_emplace(worker.kind, worker.node, worker.node).first->second.second;
    if (machine.nodes[index(worker.node)].capacity > machine.nodes[index(largest)].capacity)
      largest = worker.node;
  }
  for (std::size_t i = 0; i < machine.workers.size(); ++i) {
    const WorkerSpec& worker = machine.workers[i];
    const auto [first, largest] = kept.at(worker.kind);
    std::size_t& here = left.at({worker.kind, worker.node});
    if ((worker.node == first || worker.node == largest) && here == 1) continue;
    if (!random.once_in(2)) continue;
    --here;
    lost.push_back({static_cast<WorkerId>(i), Time(random.between(0, last))});
  }
  return lost;
}

/// Any of the devices, even if no other one can run its tasks.
std::vector<backend::DeviceLoss> lost_devices(Random random, const Topology& machine) {
  std::vector<backend::DeviceLoss> lost;
  for (const NodeId device : machine.devices())
    if (!random.once_in(3))
      lost.push_back({device, static_cast<std::uint64_t>(random.between(1, 1 << random.between(0, 7)))});
  return lost;
}

}  // namespace

RunPlan::RunPlan(std::uint64_t of_seed, RunOptions wanted)
    : random_(of_seed * 7919 + 17),
      seed(of_seed),
      options(std::move(wanted)),
      several_kinds(random_.once_in(4)),
      program(random_, options.tasks, several_kinds, options.cancels, options.holds),
      machine(random_machine(random_, program, options.tight, several_kinds)) {
  simulator_seed = random_.next();
  copy_stalls_once_in = random_.once_in(3) ? 20 : 0;
  recall_refused_once_in = seed % 3 == 0 ? 2 : 0;
  copy_reported_late_once_in = seed % 4 == 1 ? 2 : 0;
  // A failure cancels all dependent tasks, so failures are rare.
  const auto rarely = [&](bool fails, std::int64_t low, std::int64_t high) {
    return fails ? static_cast<std::uint64_t>(random_.between(low, high)) : std::uint64_t{0};
  };
  copy_fails_once_in = rarely(options.copies_fail, 4, 40);  // also the second attempt
  write_back_fails_once_in = rarely(options.write_backs_fail, 2, 20);
  task_fails_once_in = rarely(options.tasks_fail, 10, 200);
  time_scale = static_cast<std::int64_t>(std::uint64_t{1} << random_.below(12));
  if (!random_.once_in(2))
    pipeline_depth =
        static_cast<std::size_t>(random_.once_in(2) ? random_.between(1, 3) : random_.between(1, 16));
  if (!random_.once_in(2)) window = static_cast<std::size_t>(random_.between(2, 60));
  short_of_space = random_.once_in(5);
  application_seed = random_.next();
  if (options.devices_are_lost)
    lost_devices = random_runs::lost_devices(Random(Random::mix(seed + 0xdead)), machine);
  lost = lost_workers(Random(Random::mix(seed + 0x1057)), machine,
                      time_scale * 20 * static_cast<std::int64_t>(options.tasks));
  // The possible successors of a lost device stay, and its workers are lost together.
  if (!lost_devices.empty()) lost.clear();
}

namespace {

std::string machine_text(const Topology& machine) {
  std::string text = "machine: user memory, a disk";
  for (std::size_t node = 2; node < machine.nodes.size(); ++node) {
    const auto id = static_cast<NodeId>(node);
    std::size_t cores = 0, devices = 0;
    for (const WorkerSpec& worker : machine.workers)
      if (worker.node == id) ++(worker.kind == WorkerKind::cpu ? cores : devices);
    text +=
        fmt::format("; {} of {} with {} workers of kind {}", machine.nodes[node].name,
                    mebibytes(machine.nodes[node].capacity), cores + devices, devices == 0 ? "cpu" : "cuda");
  }
  return text;
}

std::string program_text(const RandomProgram& program) {
  const auto count = [](const auto& all, auto which) { return std::ranges::count(all, true, which); };
  std::string text =
      fmt::format("program: {} tasks in {} flows, {} data of {} in all, at most {} for one task",
                  program.task_count(), program.flows.size(), program.data.size(),
                  mebibytes(program.all_bytes), mebibytes(program.largest_footprint));
  const auto say = [&](std::ptrdiff_t how_many, std::string_view of_what) {
    if (how_many != 0) text += fmt::format("; {} {}", how_many, of_what);
  };
  say(count(program.data, &PlannedDatum::in_user_memory), "data in user memory");
  say(count(program.data, &PlannedDatum::generated), "generated data");
  say(count(program.data, &PlannedDatum::temporary), "data without a value at first");
  say(count(program.data, &PlannedDatum::removed), "data removed before the end");
  say(std::ranges::count_if(program.tasks, [](const PlannedTask& task) { return task.workers > 1; }),
      "tasks for several workers at once");
  say(count(program.tasks, &PlannedTask::hold), "holds of the application");
  return text;
}

}  // namespace

std::string RunPlan::text() const {
  std::vector<std::string> faults;
  const auto once_in = [&](std::string_view what, std::uint64_t times) {
    if (times != 0) faults.push_back(fmt::format("{} once in {}", what, times));
  };
  once_in("copies fail", copy_fails_once_in);
  once_in("write-backs fail", write_back_fails_once_in);
  once_in("tasks fail", task_fails_once_in);
  once_in("copies are reported late", copy_reported_late_once_in);
  once_in("copies stall", copy_stalls_once_in);
  once_in("workers refuse to give a task back", recall_refused_once_in);
  for (const PlannedFlow& flow : program.flows)
    if (flow.cancelled_before)
      faults.push_back(fmt::format("a flow is cancelled before task {}", *flow.cancelled_before));
  for (const backend::WorkerLoss& loss : lost)
    faults.push_back(fmt::format("worker {} is lost after {} ns", index(loss.worker), loss.at.count()));
  for (const backend::DeviceLoss& loss : lost_devices)
    faults.push_back(fmt::format("{} is lost after {} copies and tasks", machine.nodes[index(loss.node)].name,
                                 loss.after));
  if (short_of_space) faults.emplace_back("no space for partial results after the first");
  return fmt::format("{}\n{}\npolicy: {}, pipelines {}, window {}\nfaults: {}\n", machine_text(machine),
                     program_text(program), options.policy,
                     pipeline_depth == 0 ? "by measured times" : fmt::format("of {}", pipeline_depth),
                     window == 0 ? "as usual" : fmt::format("of {}", window),
                     faults.empty() ? "none" : fmt::format("{}", fmt::join(faults, ", ")));
}

}  // namespace fairlead::random_runs
