// See topology_check.hpp.
#include "machine/topology_check.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace fairlead {

namespace {

constexpr std::size_t max_nodes = 32;  // tasks have a bit for each node
constexpr Duration longest_latency{std::int64_t{1} << 52};

class TopologyCheck {
 public:
  explicit TopologyCheck(const Topology& topology) : topology_(topology) {}

  std::string flaw() const {
    if (topology_.nodes.size() > max_nodes)
      return fmt::format("it has {} memory nodes; {} are possible", topology_.nodes.size(), max_nodes);
    if (topology_.workers.empty()) return "it has no worker";
    for (const WorkerSpec& worker : topology_.workers)
      if (!is_cache(worker.node))
        return fmt::format("a worker is on \"{}\", which cannot hold data of tasks", name(worker.node));
    for (const NodeSpec& node : topology_.nodes)
      for (const NodeId home : node.directly_accessible_homes)
        if (node.role != NodeRole::cache || is_cache(home))
          return fmt::format("\"{}\" cannot access \"{}\" directly", node.name, name(home));
    for (const LinkSpec& link : topology_.links)
      if (const std::string wrong = link_error(link); !wrong.empty())
        return fmt::format("its link \"{}\" {}", link.name, wrong);
    return missing_link();
  }

 private:
  bool is_cache(NodeId node) const { return topology_.nodes[index(node)].role == NodeRole::cache; }
  const std::string& name(NodeId node) const { return topology_.nodes[index(node)].name; }
  static bool connects(const LinkSpec& link, NodeId a, NodeId b) {
    return (link.first == a && link.second == b) || (link.first == b && link.second == a);
  }

  std::string link_error(const LinkSpec& link) const {
    if (link.first == link.second) return "connects a node with itself";
    if (link.concurrent_copies == 0) return "allows no copies";
    if (link.latency < Duration{} || link.latency > longest_latency) return "has an invalid latency";
    if (link.is_generator && (is_cache(link.first) || !is_cache(link.second)))
      return "is a generator, but does not lead from a home to a cache";
    for (const LinkId leg : link.physical_links)
      if (!topology_.links[index(leg)].physical_links.empty()) return "crosses a link that is not physical";
    if (link.physical_links.size() > 2) return "crosses more than two physical links";
    if (link.physical_links.size() < 2)
      return link.through == no_id<NodeId> ? "" : "goes through a node, but crosses one physical link";
    if (link.through == no_id<NodeId> || !is_cache(link.through) ||
        link.physical_links[0] == link.physical_links[1] ||
        !connects(topology_.links[index(link.physical_links[0])], link.first, link.through) ||
        !connects(topology_.links[index(link.physical_links[1])], link.through, link.second))
      return "crosses two physical links that do not meet in a cache";
    return "";
  }

  std::string missing_link() const {
    const auto has = [&](NodeId home, NodeId cache, bool computing) {
      return std::ranges::any_of(topology_.links, [&](const LinkSpec& link) {
        return link.is_generator == computing && connects(link, home, cache);
      });
    };
    for (std::size_t i = 0; i < topology_.nodes.size(); ++i)
      for (std::size_t j = 0; j < topology_.nodes.size(); ++j) {
        const auto home = static_cast<NodeId>(i), cache = static_cast<NodeId>(j);
        if (is_cache(home) || !is_cache(cache)) continue;
        const bool computed = std::ranges::any_of(
            topology_.links, [&](const LinkSpec& link) { return link.is_generator && link.first == home; });
        if (!has(home, cache, false) || (computed && !has(home, cache, true)))
          return fmt::format("no link connects \"{}\" and \"{}\"", name(home), name(cache));
      }
    return "";
  }

  const Topology& topology_;
};

}  // namespace

std::string validate(const Topology& topology) { return TopologyCheck(topology).flaw(); }

}  // namespace fairlead
