// The policy: pushes tasks into the grid; workers pop them in their access orders. Heteroprio's buckets are the rows of
// a grid with one column; LAHeteroprio's grid has one column per memory node.
#include "schedule/heteroprio/heteroprio.hpp"

#include <fmt/format.h>
#include <fairlead/codelet_info.hpp>
#include <fairlead/error.hpp>

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "base/check.hpp"
#include "schedule/heteroprio/access_order.hpp"
#include "schedule/heteroprio/affinity_placement.hpp"
#include "schedule/heteroprio/buckets.hpp"
#include "schedule/heteroprio/task_list_grid.hpp"

namespace fairlead::schedule {
namespace heteroprio {
namespace {

class Heteroprio final : public Policy {
 public:
  explicit Heteroprio(HeteroprioSettings settings) : buckets_(std::move(settings)) {}

  // Push: "task insertion in the grid with locality evaluation".
  void ready(Task& task, WorkerId released_by) override {
    const EligibleWorkers runners = find_eligible_workers(task);
    const std::uint32_t b = bucket_of(task, runners.kinds);
    learn(b, task, runners);
    QueuedTask waiting;
    waiting.task = &task;
    waiting.order = ++arrivals_;
    Column column = 0;
    if (placement_.has_value())
      column =
          placement_->on_push(waiting, released_by == no_id<WorkerId>
                                           ? std::nullopt
                                           : std::optional(groups_[group_of_[index(released_by)]].column));
    grid_.at(b, column).push(waiting, runners.groups);
    ++buckets_.list()[b].waiting;
  }

  // Pop. Thresholds are ignored if nothing else would run.
  Task* pick(WorkerId worker, bool must) override {
    update_orders();
    Task* task = take(worker, true);
    return task != nullptr || !must ? task : take(worker, false);
  }

  void worker_lost(WorkerId worker) override {
    if (lost_[index(worker)]) return;
    lost_[index(worker)] = true;
    --present_[index(view().workers()[index(worker)].kind)];
  }

 private:
  /// The workers of one kind on one memory node, which share an access order.
  struct Group {
    WorkerKind kind{};
    Column column = 0;
    std::uint64_t bit = 0;  // the group's bit; groups beyond 64 share bits
    std::vector<WorkerId> workers;
    std::vector<ListId> order;
  };
  /// The groups and kinds of worker that can run a task.
  struct EligibleWorkers {
    std::uint64_t groups = 0;
    std::uint32_t kinds = 0;
    ByKind<std::optional<WorkerId>> one{};  // one worker of each kind that is not lost
  };

  void attached() override {
    const std::size_t columns = settings().locality.has_value() ? view().nodes().size() : 1;
    ensure(columns <= most_columns, "there are at most 64 memory nodes");
    column_kinds_.assign(columns, std::nullopt);
    for (const WorkerInfo& worker : view().workers()) {
      const Column column = column_of(worker.node);
      auto group = std::ranges::find_if(
          groups_, [&](const Group& it) { return it.kind == worker.kind && it.column == column; });
      if (group == groups_.end()) {
        groups_.push_back({worker.kind, column, std::uint64_t{1} << (groups_.size() % 64), {}, {}});
        group = groups_.end() - 1;
        if (!column_kinds_[column].has_value()) column_kinds_[column] = worker.kind;
      }
      group->workers.push_back(worker.id);
      group_of_.push_back(static_cast<std::size_t>(group - groups_.begin()));
      ++present_[index(worker.kind)];
    }
    lost_.assign(view().workers().size(), false);
    if (!settings().locality.has_value()) return;
    placement_.emplace(view(), *settings().locality);
    transfers_ = transfer_distances(view());
  }

  const HeteroprioSettings& settings() const noexcept { return buckets_.settings(); }
  Column column_of(NodeId node) const {
    if (!settings().locality.has_value()) return 0;
    return static_cast<Column>(std::ranges::find(view().nodes(), node, &NodeInfo::id) -
                               view().nodes().begin());
  }

  // ---- "Multi-priorities": eligible workers, and buckets

  EligibleWorkers find_eligible_workers(const Task& task) const {
    EligibleWorkers runners;
    for (const Group& group : groups_)
      for (const WorkerId worker : group.workers) {
        if (!view().can_run(task, worker)) continue;
        runners.groups |= group.bit;
        runners.kinds |= 1u << index(group.kind);
        if (lost_[index(worker)]) continue;
        if (!runners.one[index(group.kind)].has_value()) runners.one[index(group.kind)] = worker;
        break;
      }
    return runners;
  }

  std::uint32_t bucket_of(const Task& task, std::uint32_t kinds) {
    const CodeletInfo* codelet = task.codelet;
    const std::size_t before = buckets_.list().size();
    const std::uint32_t b = codelet == nullptr ? buckets_.at("", 0, kinds)
                                               : buckets_.at(codelet->name, codelet->name_hash(), kinds);
    if (buckets_.list().size() == before) return b;
    if (codelet != nullptr) check_fastest(*codelet);
    grid_.resize(buckets_.list().size(), column_kinds_.size());
    orders_outdated_ = true;
    return b;
  }
  /// Checks the user's speedup factor against the codelet's bodies; HeteroprioSettings::check() cannot do so.
  void check_fastest(const CodeletInfo& codelet) const {
    const SpeedupFactor* factor = settings().factor(codelet.name);
    if (factor == nullptr || ((codelet.kinds >> index(factor->fastest)) & 1u) != 0) return;
    const std::string_view kind = worker_kind_names[index(factor->fastest)];
    throw ConfigError(fmt::format(
        "{}: {} is said to be the fastest for {}, which has no body for it: the others would wait "
        "for it in vain. Name another kind in the speedup factor",
        settings().policy, kind, codelet.name));
  }

  // ---- "Speedup factors"

  /// Learns nothing from a task whose duration is unknown on one of the kinds.
  void learn(std::uint32_t b, const Task& task, const EligibleWorkers& runners) {
    Bucket& bucket = buckets_.list()[b];
    if (bucket.given.has_value() || (bucket.kinds & (bucket.kinds - 1)) == 0) return;
    ByKind<Duration> durations{};
    for (std::size_t kind = 0; kind < worker_kind_count; ++kind) {
      if (((bucket.kinds >> kind) & 1u) == 0) continue;
      const std::optional<WorkerId> worker = runners.one[kind];
      if (!worker.has_value() || !view().is_estimate_reliable(task, *worker)) return;
      durations[kind] = view().estimate(task, *worker);
    }
    orders_outdated_ |= bucket.found.add(durations, bucket.kinds);
  }

  bool open_for(const Bucket& bucket, WorkerKind kind) const noexcept {
    return is_above_threshold(bucket.speedup(), kind, bucket.waiting, bucket.kinds, present_);
  }

  // ---- "Iterating order on the lists of the grid (pop)"

  Task* take(WorkerId worker, bool thresholds) {
    const Group& group = groups_[group_of_[index(worker)]];
    for (const ListId& visit : group.order) {
      Bucket& bucket = buckets_.list()[visit.bucket];
      if (bucket.waiting == 0 || (thresholds && !open_for(bucket, group.kind))) continue;
      Cell& cell = grid_.at(visit.bucket, visit.column);
      if (cell.empty()) continue;
      const QueuedTask taken =
          cell.take(visit.column == group.column ? QueueEnd::front : QueueEnd::back, group.bit,
                    [&](const Task& task) { return view().can_run(task, worker); });
      if (taken.task == nullptr) continue;
      --bucket.waiting;
      if (placement_.has_value()) placement_->on_pop(taken, group.column);
      return taken.task;
    }
    return nullptr;
  }

  /// Recomputes the access orders after a new bucket or a changed speedup.
  void update_orders() {
    if (!std::exchange(orders_outdated_, false)) return;
    ByKind<AccessArray> arrays;
    for (std::size_t kind = 0; kind < worker_kind_count; ++kind)
      arrays[kind] = access_array(static_cast<WorkerKind>(kind), buckets_.list(), settings());
    const std::size_t columns = column_kinds_.size();
    for (Group& group : groups_) {
      const AccessArray& array = arrays[index(group.kind)];
      std::vector<double> distances(columns);
      LocalityRange reach;
      if (const auto& locality = settings().locality; locality.has_value()) {
        reach = locality->reach[index(group.kind)];
        for (Column m = 0; m < columns; ++m)
          if (m != group.column)
            distances[m] = node_distance(
                column_kinds_[m].has_value()
                    ? priority_distance(array.priorities, arrays[index(*column_kinds_[m])].priorities)
                    : 1,
                transfers_[group.column * columns + m], locality->alpha);
      }
      group.order = access_order(array.order, group.column, distances, reach);
    }
  }

  Buckets buckets_;
  TaskListGrid grid_;
  std::optional<AffinityPlacement> placement_;           // only with locality
  std::vector<Group> groups_;                            // in the order of their first workers
  std::vector<std::size_t> group_of_;                    // by worker
  std::vector<std::optional<WorkerKind>> column_kinds_;  // kind of the node's first worker
  std::vector<double> transfers_;                        // Eq. 10, by two columns
  std::vector<bool> lost_;                               // by worker
  ByKind<std::size_t> present_{};                        // by kind: workers that are not lost
  std::uint64_t arrivals_ = 0;
  bool orders_outdated_ = false;
};

}  // namespace
}  // namespace heteroprio

std::unique_ptr<Policy> make_heteroprio(heteroprio::HeteroprioSettings settings) {
  settings.check();
  return std::make_unique<heteroprio::Heteroprio>(std::move(settings));
}
std::unique_ptr<Policy> make_heteroprio(const PolicyOptions& options) {
  return make_heteroprio(heteroprio::read_settings(options, false));
}
std::unique_ptr<Policy> make_laheteroprio(const PolicyOptions& options) {
  return make_heteroprio(heteroprio::read_settings(options, true));
}

}  // namespace fairlead::schedule
