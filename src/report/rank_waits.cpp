// See rank_waits.hpp.
#include "report/rank_waits.hpp"

#include <algorithm>

namespace fairlead::report {

namespace {

struct Interval {
  Time begin{}, end{};
};

/// Sorted and disjoint.
std::vector<Interval> joined(std::vector<Interval> all) {
  std::ranges::sort(all, {}, &Interval::begin);
  std::vector<Interval> out;
  for (const Interval& one : all)
    if (!out.empty() && one.begin <= out.back().end)
      out.back().end = std::max(out.back().end, one.end);
    else
      out.push_back(one);
  return out;
}

/// The part of the waits that lies within `by`.
Duration covered(const std::vector<Interval>& waits, const std::vector<Interval>& by) {
  Duration sum{};
  for (const Interval& wait : waits) {
    auto it = std::ranges::lower_bound(by, wait.begin, {}, &Interval::end);
    for (; it != by.end() && it->begin < wait.end; ++it)
      sum += std::max(Duration{}, std::min(wait.end, it->end) - std::max(wait.begin, it->begin));
  }
  return sum;
}

}  // namespace

WaitedForRanks waited_for_ranks(const trace::Snapshot& own, std::uint32_t ranks, Time begin, Time end) {
  std::vector<Interval> waits;
  for (const trace::WaitRecord& wait : own.waits)
    if (wait.reason == trace::WaitRecord::For::tasks && wait.start < end && wait.end() > begin)
      waits.push_back({std::max(wait.start, begin), std::min(wait.end(), end)});
  std::vector<std::vector<Interval>> coming(ranks);
  std::vector<Interval> any;
  for (const trace::TransferRecord& one : own.transfers)
    if (one.comes && one.peer < ranks) {
      coming[one.peer].push_back({one.start, one.end()});
      any.push_back({one.start, one.end()});
    }
  WaitedForRanks waited;
  for (auto& from : coming) waited.by_rank.push_back(covered(waits, joined(std::move(from))));
  waited.any = covered(waits, joined(std::move(any)));
  return waited;
}

}  // namespace fairlead::report
