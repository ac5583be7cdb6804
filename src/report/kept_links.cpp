// See kept_links.hpp.
#include "report/kept_links.hpp"

#include <fmt/format.h>

#include "model/machine_file.hpp"
#include "report/units.hpp"

namespace fairlead::report {

std::string links_text(const model::KeptLinks& links) {
  if (links.empty()) return {};
  const auto rate = [](std::uint64_t bytes_per_second) { return moved_bytes(bytes_per_second) + "/s"; };
  std::string text = fmt::format("{:<24}{:>12}{:>12}{:>14}{:>10}  measured\n", "link", "forward", "reverse",
                                 "both at once", "latency");
  for (const model::KeptLink& link : links)
    text +=
        fmt::format("{:<24}{:>12}{:>12}{:>14}{:>10}  {}{}\n", fmt::format("{} - {}", link.first, link.second),
                    rate(link.to_second), rate(link.to_first), rate(link.both),
                    link.latency_ns < 10'000 ? fmt::format("{} ns", link.latency_ns)
                                             : readable_seconds(static_cast<double>(link.latency_ns) * 1e-9),
                    model::date_text(link.day), link.place.empty() ? "" : ", " + link.place);
  return text;
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

}  // namespace fairlead::report
