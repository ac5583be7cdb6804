// The tables of ranks: the work of each rank, and the values from other ranks.
#include <fmt/format.h>

#include "config/value.hpp"
#include "report/html/html_table.hpp"
#include "report/html/parts.hpp"
#include "report/units.hpp"

namespace fairlead::report::html {

std::string ranks(const RunReport& report) {
  HtmlTable each("Ranks", {"", "tasks", "computed", "no task while values arrived", "sent", "of memory",
                           "read", "written"});
  for (std::size_t i = 0; i < report.ranks.size(); ++i) {
    const RankReport& rank = report.ranks[i];
    const double all = rank.counted_seconds * rank.workers;
    each.row({fmt::format("rank {}", i), with_commas(rank.tasks), readable_seconds(rank.busy_seconds),
              rank.waited_seconds && all > 0 ? fmt::format("{} ({})", readable_seconds(*rank.waited_seconds),
                                                           percent(*rank.waited_seconds, all))
                                             : "",
              moved_bytes(rank.payload_bytes), config::readable_size(rank.peak_memory_bytes),
              moved_bytes(rank.bytes_read), moved_bytes(rank.bytes_written)});
  }
  if (!report.ranks.empty()) each.remark(fmt::format("{}, {}.", report.grid, report.network));

  HtmlTable pairs("Waits between ranks",
                  {"", "values", "of graphs", "of flows", "messages", "in flight", "no task in that time"});
  for (std::size_t to = 0; to < report.ranks.size(); ++to)
    for (std::size_t from = 0; from < report.ranks[to].from.size(); ++from) {
      const FromRankReport& of = report.ranks[to].from[from];
      if (of.values() == 0) continue;
      pairs.row({fmt::format("{} from {}", to, from), with_commas(of.values()), moved_bytes(of.graphs.bytes),
                 moved_bytes(of.flows.bytes), moved_bytes(of.messages.bytes),
                 readable_seconds(of.in_flight_seconds),
                 of.waited_seconds ? readable_seconds(*of.waited_seconds) : ""});
    }
  return each.take() + pairs.take();
}

}  // namespace fairlead::report::html
