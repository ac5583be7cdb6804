// Encodes and decodes the head of a log.
#include "engine/log_head.hpp"

#include <bit>
#include <cmath>

#include "engine/log_text.hpp"
#include "machine/topology_check.hpp"

namespace fairlead::engine {

namespace {

constexpr std::uint64_t most_parts = 1 << 16, most_durations = 1 << 20,
                        longest_estimate = std::uint64_t{1} << 53;
constexpr std::uint64_t largest_capacity = std::uint64_t{1} << 62;

}  // namespace

std::vector<std::uint64_t> LogHead::words() const {
  std::vector<std::uint64_t> words;
  add_text(words, policy);
  words.push_back(seed);
  words.push_back(pipeline_depth);
  words.push_back(has_what_if);
  words.push_back(idle_cores);
  words.push_back(durations_known);
  words.push_back(keep_ids);
  words.push_back(first_bodies);
  words.push_back(topology.nodes.size());
  for (const NodeSpec& node : topology.nodes) {
    add_text(words, node.name);
    words.push_back(static_cast<std::uint64_t>(node.role));
    words.push_back(static_cast<std::uint64_t>(node.memory));
    words.push_back(node.capacity);
    words.push_back(node.directly_accessible_homes.size());
    for (const NodeId home : node.directly_accessible_homes) words.push_back(index(home));
  }
  words.push_back(topology.workers.size());
  for (const WorkerSpec& worker : topology.workers) {
    words.push_back(static_cast<std::uint64_t>(worker.kind));
    words.push_back(index(worker.node));
    add_text(words, worker.processor);
  }
  words.push_back(topology.links.size());
  for (const LinkSpec& link : topology.links) {
    add_text(words, link.name);
    words.push_back(index(link.first));
    words.push_back(index(link.second));
    for (const bool away : {true, false})
      words.push_back(std::bit_cast<std::uint64_t>(link.bytes_per_second.of(away)));
    words.push_back(link.duplex);
    words.push_back(static_cast<std::uint64_t>(link.latency.count()));
    words.push_back(link.concurrent_copies);
    words.push_back(link.physical_links.size());
    for (const LinkId leg : link.physical_links) words.push_back(index(leg));
    words.push_back(link.through == no_id<NodeId> ? topology.nodes.size() : index(link.through));
    words.push_back(link.is_generator);
  }
  words.push_back(durations.size());
  for (const model::DurationRecord& kept : durations) {
    add_text(words, kept.codelet);
    words.push_back(static_cast<std::uint64_t>(kept.kind));
    add_text(words, kept.processor);
    add_text(words, kept.implementation);
    words.push_back(static_cast<std::uint64_t>(kept.unit));
    words.push_back(kept.footprint);
    words.push_back(kept.size);
    words.push_back(kept.tasks);
    for (const std::int64_t quantile : kept.quantiles_ns)
      words.push_back(static_cast<std::uint64_t>(quantile));
  }
  return words;
}

LogHead LogHead::from(std::span<const std::uint64_t> words) {
  LogReader log(words);
  LogHead head;
  head.policy = read_text(log);
  head.seed = log.word("seed");
  head.pipeline_depth = log.word("depth of pipelines", most_parts);
  head.has_what_if = log.word("flag of what-if simulations", 2) != 0;
  head.idle_cores = log.word("number of idle cores", most_parts);
  head.durations_known = log.word("flag of known durations", 2) != 0;
  head.keep_ids = log.word("flag of reused ids", 2) != 0;
  head.first_bodies = log.word("flag of first bodies", 2) != 0;
  std::vector<NodeSpec>& nodes = head.topology.nodes;
  std::vector<WorkerSpec>& workers = head.topology.workers;
  std::vector<LinkSpec>& links = head.topology.links;
  nodes.resize(log.word("number of memory nodes", most_parts));
  const auto node_id = [&] { return static_cast<NodeId>(log.word("memory node", nodes.size())); };
  for (NodeSpec& node : nodes) {
    node.name = read_text(log);
    node.role = static_cast<NodeRole>(log.word("role of a memory node", 2));
    node.memory = static_cast<MemoryKind>(log.word("kind of memory", 5));
    node.capacity = log.word("capacity of a memory node", largest_capacity);
    node.directly_accessible_homes.resize(log.word("number of homes", nodes.size() + 1));
    for (NodeId& home : node.directly_accessible_homes) home = node_id();
  }
  workers.resize(log.word("number of workers", most_parts));
  for (WorkerSpec& worker : workers) {
    worker.kind = static_cast<WorkerKind>(log.word("kind of worker", 4));
    worker.node = node_id();
    worker.processor = read_text(log);
  }
  links.resize(log.word("number of links", most_parts));
  for (LinkSpec& link : links) {
    link.name = read_text(log);
    link.first = node_id();
    link.second = node_id();
    for (double* const each : {&link.bytes_per_second.out, &link.bytes_per_second.in}) {
      *each = std::bit_cast<double>(log.word("bandwidth of a link"));
      if (!std::isfinite(*each) || *each <= 0) log.refuse("a link without bandwidth");
    }
    link.duplex = log.word("flag of a duplex link", 2) != 0;
    link.latency = Duration(static_cast<std::int64_t>(log.word("latency of a link", largest_capacity)));
    link.concurrent_copies = static_cast<unsigned>(log.word("number of copies at once", most_parts));
    link.physical_links.resize(log.word("number of physical links", 3));
    for (LinkId& leg : link.physical_links)
      leg = static_cast<LinkId>(log.word("physical link", links.size()));
    const std::uint64_t through = log.word("intermediate node", nodes.size() + 1);
    if (through != nodes.size()) link.through = static_cast<NodeId>(through);
    if ((link.physical_links.size() == 2) != (link.through != no_id<NodeId>))
      log.refuse("two physical links without a common node");
    link.is_generator = log.word("flag of a generator link", 2) != 0;
  }
  if (const std::string flaw = validate(head.topology); !flaw.empty()) log.refuse("invalid machine: " + flaw);
  head.durations.resize(log.word("number of durations", most_durations));
  for (model::DurationRecord& kept : head.durations) {
    kept.codelet = read_text(log);
    kept.kind = static_cast<WorkerKind>(log.word("kind of worker", 4));
    kept.processor = read_text(log);
    kept.implementation = read_text(log);
    kept.unit = static_cast<WorkUnit>(log.word("unit of work", 3));
    kept.footprint = log.word("footprint");
    kept.size = log.word("size of a task");
    kept.tasks = log.word("number of tasks");
    for (std::int64_t& quantile : kept.quantiles_ns)
      quantile = static_cast<std::int64_t>(log.word("a duration", longest_estimate));
  }
  if (!log.at_end()) log.refuse("the header is longer than its contents");
  return head;
}

}  // namespace fairlead::engine
