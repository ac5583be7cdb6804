// The head of a log as words.
#include "engine/log_head.hpp"

#include <bit>
#include <cmath>
#include <cstring>

#include "engine/log_reader.hpp"

namespace fairlead::engine {

namespace {

constexpr std::uint64_t longest_name = 1 << 10, most_parts = 1 << 16;
constexpr std::uint64_t largest_capacity = std::uint64_t{1} << 62;

void add(std::vector<std::uint64_t>& words, const std::string& text) {
  words.push_back(text.size());
  for (std::size_t i = 0; i < text.size(); i += 8) {
    std::uint64_t word = 0;
    std::memcpy(&word, text.data() + i, std::min<std::size_t>(8, text.size() - i));
    words.push_back(word);
  }
}

std::string text_from(LogReader& log) {
  std::string text(log.word("length of a name", longest_name), '\0');
  for (std::size_t i = 0; i < text.size(); i += 8) {
    const std::uint64_t word = log.word("a name");
    std::memcpy(text.data() + i, &word, std::min<std::size_t>(8, text.size() - i));
  }
  return text;
}

}  // namespace

std::vector<std::uint64_t> LogHead::words() const {
  std::vector<std::uint64_t> words;
  add(words, policy);
  words.push_back(seed);
  words.push_back(pipeline_depth);
  words.push_back(topology.nodes.size());
  for (const NodeSpec& node : topology.nodes) {
    add(words, node.name);
    words.push_back(static_cast<std::uint64_t>(node.role));
    words.push_back(node.capacity);
    words.push_back(node.reaches.size());
    for (const NodeId home : node.reaches) words.push_back(index(home));
  }
  words.push_back(topology.workers.size());
  for (const WorkerSpec& worker : topology.workers) {
    words.push_back(static_cast<std::uint64_t>(worker.kind));
    words.push_back(index(worker.node));
  }
  words.push_back(topology.links.size());
  for (const LinkSpec& link : topology.links) {
    add(words, link.name);
    words.push_back(index(link.first));
    words.push_back(index(link.second));
    words.push_back(std::bit_cast<std::uint64_t>(link.bytes_per_second));
    words.push_back(static_cast<std::uint64_t>(link.latency.count()));
    words.push_back(link.concurrent_copies);
  }
  return words;
}

LogHead LogHead::from(std::span<const std::uint64_t> words) {
  LogReader log(words);
  LogHead head;
  head.policy = text_from(log);
  head.seed = log.word("seed");
  head.pipeline_depth = log.word("depth of pipelines", most_parts);
  auto& [nodes, workers, links] = head.topology;
  nodes.resize(log.word("number of memory nodes", most_parts));
  const auto node_id = [&] { return static_cast<NodeId>(log.word("memory node", nodes.size())); };
  for (NodeSpec& node : nodes) {
    node.name = text_from(log);
    node.role = static_cast<NodeRole>(log.word("role of a memory node", 2));
    node.capacity = log.word("capacity of a memory node", largest_capacity);
    node.reaches.resize(log.word("number of homes", nodes.size() + 1));
    for (NodeId& home : node.reaches) home = node_id();
  }
  workers.resize(log.word("number of workers", most_parts));
  for (WorkerSpec& worker : workers) {
    worker.kind = static_cast<WorkerKind>(log.word("kind of worker", 4));
    worker.node = node_id();
  }
  links.resize(log.word("number of links", most_parts));
  for (LinkSpec& link : links) {
    link.name = text_from(log);
    link.first = node_id();
    link.second = node_id();
    link.bytes_per_second = std::bit_cast<double>(log.word("bandwidth of a link"));
    if (!std::isfinite(link.bytes_per_second) || link.bytes_per_second <= 0)
      log.refuse("a link without bandwidth");
    link.latency = Duration(static_cast<std::int64_t>(log.word("latency of a link", largest_capacity)));
    link.concurrent_copies = static_cast<unsigned>(log.word("number of copies at once", most_parts));
  }
  if (!log.at_end()) log.refuse("its head is longer than what it says");
  return head;
}

}  // namespace fairlead::engine
