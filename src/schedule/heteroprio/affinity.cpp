// The affinities of LAHeteroprio, in the notation of Bramas 2019: D(t,m) are the data of the task on node m.
#include "schedule/heteroprio/affinity.hpp"

#include <algorithm>
#include <bit>

namespace fairlead::schedule::heteroprio {

namespace {

constexpr Columns bit(Column m) noexcept { return Columns{1} << m; }
constexpr Columns first(Column columns) noexcept {
  return columns == most_columns ? ~Columns{0} : bit(columns) - 1;
}

/// The columns where `score(m)` is highest.
template <class Score>
Columns highest(Column columns, Score&& score) {
  Columns best = 0;
  double most = 0;
  for (Column m = 0; m < columns; ++m) {
    const double of_m = score(m);
    if (best != 0 && of_m < most) continue;
    if (best == 0 || of_m > most) best = 0;
    best |= bit(m);
    most = of_m;
  }
  return best;
}

double size(const DatumUse& d) noexcept { return static_cast<double>(d.bytes); }
bool in(Column m, const DatumUse& d) noexcept { return (d.present & bit(m)) != 0; }

}  // namespace

Columns laru(std::optional<Column> pusher, Column columns) noexcept {
  return pusher.has_value() ? bit(*pusher) : first(columns);
}

Columns mc(std::span<const Duration> moving_times) noexcept {
  return highest(static_cast<Column>(moving_times.size()),
                 [&](Column m) { return -static_cast<double>(moving_times[m].count()); });
}

Columns sdh(std::span<const DatumUse> uses, Column columns) noexcept {
  return highest(columns, [&](Column m) {
    double sum = 0;
    for (const DatumUse& d : uses)
      if (in(m, d)) sum += size(d);
    return sum;
  });
}

Columns sdh2(std::span<const DatumUse> uses, Column columns) noexcept {
  return highest(columns, [&](Column m) {
    double sum = 0;
    for (const DatumUse& d : uses)
      if (in(m, d)) sum += d.written ? size(d) * size(d) : size(d);
    return sum;
  });
}

Columns sdhb(std::span<const DatumUse> uses, Column columns, double theta) noexcept {
  return highest(columns, [&](Column m) {
    double read = 0, written = 0, number = 0;
    for (const DatumUse& d : uses) {
      if (!in(m, d)) continue;
      (d.written ? written : read) += size(d);
      number += d.written ? 1 : 0;
    }
    return read + theta * number * written;
  });
}

Columns smwb(std::span<const DatumUse> uses, Column columns) noexcept {
  const auto all = static_cast<double>(uses.size());
  const auto written = static_cast<double>(std::ranges::count(uses, true, &DatumUse::written));
  return highest(columns, [&](Column m) {
    double cost = 0;  // multiplied by the number of all data, so that it is an integer
    for (const DatumUse& d : uses)
      if (!in(m, d)) cost += d.written ? (2 * all - written) * size(d) : all * size(d);
    return -cost;
  });
}

Column select_node(Columns best, std::optional<Column> asker) noexcept {
  if (asker.has_value() && (best & bit(*asker)) != 0) return *asker;
  return static_cast<Column>(std::countr_zero(best));
}

BestNodeDifference::Winners BestNodeDifference::best_nodes(std::span<const DatumUse> uses, Column columns,
                                                           std::optional<Column> asker, double theta) {
  const auto of = [&](Columns best) { return static_cast<std::uint8_t>(select_node(best, asker)); };
  return {of(sdh(uses, columns)), of(sdh2(uses, columns)), of(sdhb(uses, columns, theta)),
          of(smwb(uses, columns))};
}

std::size_t BestNodeDifference::most_stable() const noexcept {
  return static_cast<std::size_t>(std::ranges::min_element(counts_) - counts_.begin());
}

void BestNodeDifference::popped(const Winners& at_push, const Winners& now) noexcept {
  for (std::size_t i = 0; i < counts_.size(); ++i) counts_[i] += at_push[i] != now[i] ? 1 : 0;
}

}  // namespace fairlead::schedule::heteroprio
