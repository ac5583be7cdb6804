// See task_times.hpp.
#include "solver/task_times.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <string_view>
#include <utility>

namespace fairlead::solver {

namespace {

// Of tasks without a count of operations.
constexpr double read_bytes_per_second = 1e9;  // from a file into tiles
constexpr double bytes_per_second = 4e9;

// Half and double of what other sizes or rates predict; a factor of 1.3 if several sizes of the same task are known.
constexpr double guess_least = 0.5, guess_most = 2, trend_least = 1 / 1.3, trend_most = 1.3;

const model::Processor core(WorkerKind::cpu);

/// The mean of the middle half, as QuantileHistory::expected_ns().
double middle(const model::Quantiles& q) { return static_cast<double>(q[2] + q[3] + q[4] + q[5]) / 4; }

Duration time_of(const model::Footprint& footprint, double per_second) {
  const auto size = static_cast<double>(footprint.size());
  return std::max(Duration(1000), virtual_duration(size / std::max(per_second, 1.0) * 1e9));
}

struct RateByName {
  double gflops = 0;
  bool is_measured = false;  ///< of this kernel, not derived from another one
};

/// The rate of a task by its name. Panels and pairs of tiles have kernels of less regular form than products.
RateByName rate_of(std::string_view name, const linalg::KernelRates& rates) {
  constexpr double panel_share = 0.4, pairs_share = 0.6;
  constexpr std::array<std::string_view, 8> pairs{"tstrf", "ssssm", "gessm", "geqrt",
                                                  "tsqrt", "tsmqr", "unmqr", "ttqrt"};
  if (name == "gemm") return {rates.gemm, true};
  if (name == "syrk") return {rates.syrk, true};
  if (name == "trsm") return {rates.trsm, true};
  if (name == "potrf") return {rates.potrf, true};
  if (name == "getrf") return {rates.potrf};
  if (name.find("trsm") != name.npos) return {rates.trsm};
  if (name == "getrf_panel") return {panel_share * rates.gemm};
  if (std::ranges::find(pairs, name) != pairs.end()) return {pairs_share * rates.gemm};
  return {rates.gemm};
}

}  // namespace

TaskTimes::TaskTimes(const model::KeptDurations& kept, std::function<linalg::KernelRates()> measure)
    : measure_(std::move(measure)) {
  model_.start_with(kept);
  for (const model::DurationRecord& record : kept)
    if (record.kind == WorkerKind::cpu) kept_[{record.codelet, record.implementation}].push_back(record);
}

Duration TaskTimes::start(const Task& task, const model::Footprint& footprint) {
  const Known& it = known(task, footprint);
  const double time = seconds(it.duration);
  busy_.expected += time;
  busy_.least += time * it.least;
  busy_.most += time * it.most;
  if (it.basis == model::Basis::history)
    measured_seconds_ += time;
  else if (it.basis == model::Basis::regression || it.basis == model::Basis::few)
    extrapolated_seconds_ += time;
  else
    assumed_.insert(task.codelet->name);
  return it.duration;
}

const TaskTimes::Known& TaskTimes::known(const Task& task, const model::Footprint& footprint) {
  const std::uint64_t body = task.codelet->for_kind(WorkerKind::cpu).hash_of_name;
  const std::uint64_t key = (task.codelet->name_hash() * 31 + body) * 31 + footprint.hash() +
                            static_cast<std::uint64_t>(task.codelet->unit);
  const auto [at, is_new] = known_.try_emplace(key);
  if (is_new) at->second = find(task, footprint);
  return at->second;
}

TaskTimes::Known TaskTimes::find(const Task& task, const model::Footprint& footprint) {
  const model::Estimate estimate = model_.estimate(*task.codelet, core, footprint);
  Known known{.duration = estimate.duration, .basis = estimate.basis};
  if (estimate.basis == model::Basis::nothing) {
    known.duration = by_rate(*task.codelet, footprint);
    known.least = guess_least, known.most = guess_most;
    return known;
  }
  set_spread(known, *task.codelet, footprint);
  if (estimate.basis == model::Basis::history) return known;
  if (estimate.basis == model::Basis::formula) {
    known.least = guess_least, known.most = guess_most;
    return known;
  }
  const bool few = estimate.basis == model::Basis::few;
  known.least *= few ? guess_least : trend_least;
  known.most *= few ? guess_most : trend_most;
  known.duration = std::max(known.duration, as_largest(*task.codelet, footprint));
  // The measured rate of the kernel is better than the trend over other sizes, whose tasks may be in another precision.
  // No kernel is faster than a product.
  if (task.codelet->unit != WorkUnit::flops) return known;
  if (rate_of(task.codelet->name, rates()).is_measured)
    known.duration = by_rate(*task.codelet, footprint);
  else
    known.duration = std::max(known.duration, time_of(footprint, rates().gemm * 1e9));
  return known;
}

/// In proportion to the largest measured size, for a larger one: trends over small tasks are too steep. Otherwise 0.
Duration TaskTimes::as_largest(const CodeletInfo& codelet, const model::Footprint& footprint) const {
  const auto found = kept_.find({codelet.name, codelet.for_kind(WorkerKind::cpu).name});
  if (found == kept_.end()) return {};
  std::uint64_t largest = 0;
  double time = 0;
  for (const model::DurationRecord& record : found->second)
    if (record.unit == codelet.unit && record.size > largest)
      largest = record.size, time = middle(record.quantiles_ns);
  if (largest == 0 || footprint.size() <= largest) return {};
  return virtual_duration(time / static_cast<double>(largest) * static_cast<double>(footprint.size()));
}

const linalg::KernelRates& TaskTimes::rates() {
  if (!rates_) rates_ = measure_();
  return *rates_;
}

Duration TaskTimes::by_rate(const CodeletInfo& codelet, const model::Footprint& footprint) {
  if (codelet.unit == WorkUnit::flops) return time_of(footprint, rate_of(codelet.name, rates()).gflops * 1e9);
  return time_of(footprint, codelet.name == "read" ? read_bytes_per_second : bytes_per_second);
}

/// The middle five eighths of the measured durations: of tasks of that size, or of all sizes, relative to their own
/// middle. Tasks of one run are slow together, so a run may be as slow as its slow tasks.
void TaskTimes::set_spread(Known& known, const CodeletInfo& codelet,
                           const model::Footprint& footprint) const {
  const auto found = kept_.find({codelet.name, codelet.for_kind(WorkerKind::cpu).name});
  if (found == kept_.end()) return;
  double tasks = 0, least = 0, most = 0;
  bool exact = false;
  for (const model::DurationRecord& record : found->second) {
    const double expected = middle(record.quantiles_ns);
    if (!(expected > 0) || record.unit != codelet.unit) continue;
    const bool same = record.footprint == footprint.hash();
    if (exact && !same) continue;
    if (same && !exact) tasks = least = most = 0, exact = true;
    const auto weight = static_cast<double>(record.tasks);
    tasks += weight;
    least += weight * static_cast<double>(record.quantiles_ns[1]) / expected;
    most += weight * static_cast<double>(record.quantiles_ns[6]) / expected;
  }
  if (!(tasks > 0)) return;
  known.least = std::min(1.0, least / tasks);
  known.most = std::max(1.0, most / tasks);
}

}  // namespace fairlead::solver
