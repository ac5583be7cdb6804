// See kept_facts.hpp.
#include "fairlead/problem/kept_facts.hpp"

#include <fmt/format.h>

#include "front/runtime/machine_profile.hpp"
#include "machine/identity.hpp"
#include "report/units.hpp"

namespace fairlead::app {

KeptFacts::KeptFacts(const Config& config, const machine::Machine& machine)
    : disk_directory(config.text("disk-directory")), workers(machine.workers) {
  const std::string directory = config.text_or("cache-directory", "");
  if (directory.empty()) return;
  file.emplace(directory, machine::identity_of(machine).text());
  facts = file->load();
}

Topology KeptFacts::topology(const Config& config) const {
  return out_of_core_topology(config.count_or("workers", workers), 1, 1, {});
}

const model::KeptLink* KeptFacts::link(const Topology& topology, const LinkSpec& link) const {
  return model::find_link(facts.links, topology, link, front::place_of_link(topology, link, disk_directory));
}

void print_links(const model::KeptLinks& links) {
  if (links.empty()) return;
  const auto rate = [](std::uint64_t bytes_per_second) {
    return report::moved_bytes(bytes_per_second) + "/s";
  };
  fmt::print("{:<24}{:>12}{:>12}{:>14}{:>10}  measured\n", "link", "forward", "reverse", "both at once",
             "latency");
  for (const model::KeptLink& link : links)
    fmt::print("{:<24}{:>12}{:>12}{:>14}{:>10}  {}{}\n", fmt::format("{} - {}", link.first, link.second),
               rate(link.to_second), rate(link.to_first), rate(link.both),
               link.latency_ns < 10'000
                   ? fmt::format("{} ns", link.latency_ns)
                   : report::readable_seconds(static_cast<double>(link.latency_ns) * 1e-9),
               model::date_text(link.day), link.place.empty() ? "" : ", " + link.place);
}

Json links_json(const model::KeptLinks& links) {
  Json array = Json::array();
  for (const model::KeptLink& link : links)
    array.add(Json::object({{"first", link.first},
                            {"second", link.second},
                            {"place", link.place},
                            {"to_second_bytes_per_second", link.to_second},
                            {"to_first_bytes_per_second", link.to_first},
                            {"both_bytes_per_second", link.both},
                            {"latency_ns", link.latency_ns},
                            {"measured_on", model::date_text(link.day)}}));
  return array;
}

}  // namespace fairlead::app
