// Lookup of histories, and estimates without a history.
#include "model/duration_model.hpp"

#include <algorithm>

#include "base/random.hpp"

namespace fairlead::model {

namespace {

constexpr std::int64_t tiny_task_ns = 2'000;
constexpr std::uint64_t about_this_size = std::uint64_t{1} << 63;  // marks shared footprints

}  // namespace

std::uint64_t DurationModel::shared_footprint(std::uint64_t size) noexcept {
  return about_this_size | static_cast<std::uint64_t>(log2_of(size) * 8 / log2_one);
}

DurationModel::DurationModel() = default;
DurationModel::~DurationModel() = default;

// ---- lookup

DurationModel::Family* DurationModel::find(std::uint64_t wanted) const {
  Family*& recent = recent_[slot(wanted)];
  if (recent != nullptr && recent->key == wanted) return recent;
  const auto found = by_key_.find(wanted);
  return found == by_key_.end() ? nullptr : recent = found->second;
}

DurationModel::Family& DurationModel::find_or_make(const CodeletInfo& codelet, const Processor& processor,
                                                   unsigned implementation) {
  const std::uint64_t wanted = key(codelet, processor, implementation);
  if (Family* known = find(wanted)) return *known;
  if (full()) {
    const std::uint64_t shared = shared_key(codelet, processor);
    Family* others = find(shared);
    if (others == nullptr) others = &make(shared, codelet, processor);
    others->shared = true;
    return *others;
  }
  Family& family = make(wanted, codelet, processor);
  family.codelet = codelet.name;
  family.implementation = codelet.for_kind(processor.kind(), implementation).name;
  return family;
}

DurationModel::Family& DurationModel::make(std::uint64_t key, const CodeletInfo& codelet,
                                           const Processor& processor) {
  auto family = std::make_unique<Family>();
  family->key = key;
  family->kind = processor.kind();
  family->processor = processor.name();
  family->unit = codelet.unit;
  family->places.assign(16, 0);
  by_key_[key] = family.get();
  return *families_.emplace_back(std::move(family));
}

DurationModel::History* DurationModel::find(Family& family, std::uint64_t footprint) noexcept {
  if (family.last < family.histories.size() && family.histories[family.last].footprint == footprint)
    return &family.histories[family.last];
  const std::size_t mask = family.places.size() - 1;
  for (std::size_t i = footprint & mask; family.places[i] != 0; i = (i + 1) & mask) {
    if (family.histories[family.places[i] - 1].footprint != footprint) continue;
    family.last = family.places[i] - 1;
    return &family.histories[family.last];
  }
  return nullptr;
}

DurationModel::History& DurationModel::find_or_make(Family& family, const Footprint& footprint) {
  if (History* exact = find(family, footprint.hash())) return *exact;
  if (family.histories.size() < most_footprints) return make(family, footprint.hash(), footprint.size());
  const std::uint64_t shared = shared_footprint(footprint.size());
  if (History* known = find(family, shared)) return *known;
  return make(family, shared, footprint.size());
}

DurationModel::History& DurationModel::make(Family& family, std::uint64_t footprint, std::uint64_t size) {
  family.histories.push_back({footprint, size, {}});
  std::size_t first = family.histories.size() - 1;
  if (family.histories.size() * 2 > family.places.size()) {
    family.places.assign(family.places.size() * 2, 0);
    first = 0;
  }
  const std::size_t mask = family.places.size() - 1;
  for (std::size_t n = first; n < family.histories.size(); ++n) {
    std::size_t i = family.histories[n].footprint & mask;
    while (family.places[i] != 0) i = (i + 1) & mask;
    family.places[i] = static_cast<std::uint32_t>(n + 1);
  }
  return family.histories.back();
}

// ---- learning

void DurationModel::start_with(const KeptDurations& kept) {
  for (const DurationRecord& line : kept) {
    CodeletInfo codelet;
    codelet.name = line.codelet;
    codelet.unit = line.unit;
    codelet.kinds = 0;
    codelet.implement(line.kind, {.name = line.implementation});
    Family& family = find_or_make(codelet, Processor(line.kind, line.processor), 0);
    if (find(family, line.footprint) != nullptr || family.histories.size() >= 2 * most_footprints) continue;
    make(family, line.footprint, line.size).durations.start_with(line.quantiles_ns);
    ++family.changes;
    kept_families_ = families_.size();
  }
}

void DurationModel::record(const CodeletInfo& codelet, const Processor& processor, const Footprint& footprint,
                           Duration duration, unsigned implementation) {
  Family& family = find_or_make(codelet, processor, implementation);
  History& history = find_or_make(family, footprint);
  const std::int64_t before = history.durations.expected_ns();
  history.durations.add(duration.count());
  const std::int64_t after = history.durations.expected_ns();
  if (after - before > before / 16 || before - after > before / 16) ++family.changes;
  if (after != before)
    family.tiny = std::ranges::all_of(family.histories, [](const History& one) {
      return one.durations.expected_ns() < tiny_task_ns &&
             one.durations.samples() >= QuantileHistory::window / 2;
    });
  // The number of skipped tasks varies: otherwise footprints that alternate might never be recorded.
  const bool skip = family.tiny && duration.count() < tiny_task_ns;
  family.skip = skip ? 24 + (Random::mix(history.durations.added()) & 31) : 0;
}

// ---- estimates

const SizeRegression& DurationModel::regression_of(const Family& family) {
  // A regression takes time linear in the histories, so it is repeated only after a share of them has changed.
  if (family.changes <= family.histories.size() / 8) return family.regression;
  family.changes = 0;
  family.regression.clear();
  for (const History& history : family.histories)
    if (history.durations.samples() >= QuantileHistory::enough)
      family.regression.add(history.size, history.durations.expected_ns());
  family.from_few = family.regression.sizes() == 0;
  if (family.from_few)
    for (const History& history : family.histories)
      if (history.durations.samples() > 0)
        family.regression.add(history.size, history.durations.expected_ns());
  family.regression.finish();
  return family.regression;
}

Estimate DurationModel::estimate(const CodeletInfo& codelet, const Processor& processor,
                                 const Footprint& footprint, unsigned implementation) const {
  const bool says_duration = codelet.unit == WorkUnit::nanoseconds && footprint.size() > 0;
  const Estimate by_formula =
      says_duration ? Estimate{Duration(static_cast<std::int64_t>(footprint.size())),
                               processor.kind() == WorkerKind::cpu ? Basis::formula : Basis::few}
                    : Estimate{};
  Family* family = find(key(codelet, processor, implementation));
  if (family == nullptr && full()) family = find(shared_key(codelet, processor));
  if (family == nullptr) return by_formula;
  const History* history = find(*family, footprint.hash());
  if (history == nullptr && family->histories.size() >= most_footprints)
    history = find(*family, shared_footprint(footprint.size()));
  if (history != nullptr && history->durations.samples() >= QuantileHistory::enough)
    return {Duration(history->durations.expected_ns()), Basis::history};
  const SizeRegression& regression = regression_of(*family);
  if (regression.sizes() > 1 ||
      (regression.sizes() == 1 && codelet.unit != WorkUnit::none && !family->from_few))
    return {Duration(regression.at(footprint.size())), Basis::regression};
  if (by_formula.known()) return by_formula;
  if (history != nullptr && history->durations.samples() > 0)
    return {Duration(history->durations.expected_ns()), Basis::few};
  if (regression.sizes() == 1) return {Duration(regression.at(footprint.size())), Basis::few};
  return by_formula;
}

/// A core is far slower than an accelerator: then the next run need not try it again.
bool DurationModel::is_far_slower(const Family& family, const History& history) const {
  return family.kind == WorkerKind::cpu && std::ranges::any_of(families_, [&](const auto& other) {
           if (other->kind == WorkerKind::cpu || other->codelet != family.codelet) return false;
           const History* const there = find(*other, history.footprint);
           return there != nullptr &&
                  history.durations.expected_ns() > far_slower * there->durations.expected_ns();
         });
}

KeptDurations DurationModel::learned() const {
  KeptDurations lines;
  for (const auto& family : families_)
    for (const History& history : family->histories) {
      const QuantileHistory& durations = history.durations;
      if (family->shared || durations.added() == 0) continue;
      if (durations.samples() < QuantileHistory::enough && !is_far_slower(*family, history)) continue;
      lines.push_back({family->codelet, family->kind, family->processor, family->implementation, family->unit,
                       history.footprint, history.size, durations.added(), durations.quantiles()});
    }
  std::ranges::sort(lines, {}, &DurationRecord::key);
  return lines;
}

}  // namespace fairlead::model
