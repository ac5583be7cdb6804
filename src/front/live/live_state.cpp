// Collects the state under the engine's lock, then writes it.
#include "front/live/live_state.hpp"

#include <unistd.h>

#include <algorithm>
#include <vector>

#include "base/file_descriptor.hpp"

namespace fairlead::front {

namespace {

constexpr std::size_t longest_program = 200, most_waits = 40;

double in_seconds(Duration duration) { return static_cast<double>(duration.count()) * 1e-9; }

struct Queued {
  std::uint64_t in_flight = 0, queued = 0;
};

/// By LinkId; a copy over several links counts on each.
std::vector<Queued> copies_by_link(const memory::Memory& memory) {
  std::vector<Queued> all(memory.topology().links.size());
  memory.transfers().for_each([&](const memory::Copy& copy) {
    for (const RouteStep& leg : memory.routes().of(copy).legs) {
      Queued& link = all[index(leg.link)];
      ++(copy.state == memory::Copy::State::in_flight ? link.in_flight : link.queued);
    }
  });
  return all;
}

Json links_of(const memory::Memory& memory) {
  const Topology& topology = memory.topology();
  const std::vector<Queued> queued = copies_by_link(memory);
  Json links = Json::array();
  for (std::size_t i = 0; i < topology.links.size(); ++i) {
    const LinkSpec& link = topology.links[i];
    if (!link.physical_links.empty()) continue;  // counted on the physical links
    const memory::LinkTraffic& traffic = memory.transfers().traffic()[i];
    links.add(
        Json::object({{"name", link.name},
                      {"home", link.is_generator ? "generator" : topology.nodes[index(link.first)].name},
                      {"cache", topology.nodes[index(link.second)].name},
                      {"bytes_from_home", memory::LinkTraffic::bytes(traffic.from_home)},
                      {"bytes_to_home", memory::LinkTraffic::bytes(traffic.to_home)},
                      {"busy_seconds", in_seconds(traffic.busy)},
                      {"copies_in_flight", queued[i].in_flight},
                      {"copies_queued", queued[i].queued}}));
  }
  return links;
}

Json nodes_of(const engine::Engine& engine, memory::Memory& memory) {
  Json nodes = Json::array();
  for (const NodeInfo& info : engine.view().caches()) {
    const memory::MemoryNode& node = memory.node(info.id);
    nodes.add(Json::object({{"name", memory.topology().nodes[index(info.id)].name},
                            {"capacity_bytes", info.capacity},
                            {"used_bytes", node.space->used_bytes()},
                            {"pinned_bytes", node.pinned_bytes.get()},
                            {"peak_bytes", node.peak_bytes.get()},
                            {"evictions", node.evictions.get()},
                            {"lost", memory.losses().words_of(info.id)}}));
  }
  return nodes;
}

Json workers_of(const engine::Engine& engine, const memory::Memory& memory,
                const engine::StatusReport& status) {
  Json workers = Json::array();
  for (const WorkerInfo& worker : engine.view().workers()) {
    const engine::Pipeline& pipeline = engine.pipelines()[worker.id];
    const std::size_t number = index(worker.id);
    const engine::WorkerStatus now =
        number < status.workers.size() ? status.workers[number] : engine::WorkerStatus{};
    workers.add(
        Json::object({{"node", memory.topology().nodes[index(worker.node)].name},
                      {"state", engine::WorkerStatus::state_names[static_cast<std::size_t>(now.state)]},
                      {"task", now.task},
                      {"tasks", pipeline.tasks_run + engine.fast_path().tasks(number)},
                      {"busy_seconds", in_seconds(pipeline.busy + engine.fast_path().busy(number))},
                      {"waiting_for_data_seconds", in_seconds(pipeline.waiting_for_data)}}));
  }
  return workers;
}

Json lines_of(const engine::StatusReport& status) {
  Json lines = Json::array();
  for (std::size_t i = 0; i < std::min(status.lines.size(), most_waits); ++i) lines.add(status.lines[i]);
  if (status.lines.size() > most_waits)
    lines.add("and " + std::to_string(status.lines.size() - most_waits) + " more");
  return lines;
}

}  // namespace

std::string program_text() {
  std::string text = read_file("/proc/self/cmdline", longest_program + 1).value_or("");
  while (!text.empty() && text.back() == '\0') text.pop_back();
  std::ranges::replace(text, '\0', ' ');
  if (text.size() > longest_program) text.replace(longest_program, text.npos, "...");
  text.erase(0, text.substr(0, text.find(' ')).rfind('/') + 1);  // the folder of the program
  return text;
}

Json live_state(const LiveFacts& facts, engine::RuntimeCore& core, const engine::StatusReport& status,
                const LiveEnd* end) {
  const engine::Engine& engine = core.engine();
  Json state = Json::object({{"program", facts.program},
                             {"host", facts.host},
                             {"process", static_cast<std::int64_t>(getpid())},
                             {"rank", facts.rank},
                             {"ranks", facts.ranks},
                             {"run", end == nullptr ? "running"
                                     : end->failed  ? "failed"
                                                    : "finished"},
                             {"why", end == nullptr ? std::string() : end->why},
                             {"elapsed_seconds", facts.elapsed_seconds}});
  if (facts.progress)
    state.add("phase", Json::object({{"name", facts.progress->phase},
                                     {"tasks_done", facts.progress->tasks_done},
                                     {"tasks_total", facts.progress->tasks_total},
                                     {"flops_done", facts.progress->flops_done},
                                     {"flops_total", facts.progress->flops_total}}));
  core.engine().locked([&](memory::Memory& memory) {
    state.add("tasks_done", engine.tasks_done());
    state.add("tasks_cancelled", engine.endings().cancelled());
    state.add("tasks_submitted", core.sources().submitted());
    state.add("scheduler", engine.options().policy_name);
    state.add("active_policy", std::string(engine.policy().active_policy()));
    state.add("nodes", nodes_of(engine, memory));
    state.add("links", links_of(memory));
    state.add("workers", workers_of(engine, memory, status));
  });
  if (facts.ranks > 1)
    state.add("network", Json::object({{"messages", facts.messages}, {"value_bytes", facts.value_bytes}}));
  state.add("stalled", status.stalled());
  state.add("waits", lines_of(status));
  return state;
}

}  // namespace fairlead::front
