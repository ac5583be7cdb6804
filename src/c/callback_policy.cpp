// Calls the functions, and checks their decisions.
#include "c/callback_policy.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <utility>

namespace fairlead::c {

namespace {
constexpr std::uint64_t not_ready = std::numeric_limits<std::uint64_t>::max();
}

CallbackPolicy::CallbackPolicy(const fairlead_policy& functions, std::size_t tasks, std::size_t data,
                               PolicyFailure& failure)
    : functions_(functions), failure_(failure), ready_at_(tasks, not_ready) {
  view_of_program_.tasks.resize(tasks);
  view_of_program_.data = data;
}

void CallbackPolicy::fail(std::string text) {
  if (failure_.stop_requested.load()) return;
  failure_.by_callback = text.empty();
  failure_.text = std::move(text);
  failure_.stop_requested.store(true);
}

template <class Function, class... Arguments>
bool CallbackPolicy::call(Function* function, Arguments... arguments) {
  if (function == nullptr || failure_.stop_requested.load()) return false;
  if (function(functions_.context, &view_of_program_, arguments...) == 0) return true;
  fail("");
  return false;
}

void CallbackPolicy::submitted(Task& task) {
  // Not in attached(): the data of the program are registered afterwards.
  if (!std::exchange(attached_notified_, true)) call(functions_.attached);
  view_of_program_.tasks[number(task)] = &task;
}

void CallbackPolicy::ready(Task& task, WorkerId released_by) {
  ready_at_[number(task)] = notified_;
  ready_.emplace(notified_++, &task);
  call(functions_.ready, number(task),
       released_by == no_id<WorkerId> ? -1 : static_cast<std::int32_t>(index(released_by)));
}

void CallbackPolicy::cancelled(Task& task) {
  ready_.erase(ready_at_[number(task)]);
  view_of_program_.tasks[number(task)] = nullptr;
}

void CallbackPolicy::finished(Task& task, WorkerId worker, Duration duration) {
  call(functions_.finished, number(task), static_cast<std::uint32_t>(index(worker)), seconds(duration));
  view_of_program_.tasks[number(task)] = nullptr;
}

Task* CallbackPolicy::pick(WorkerId worker, bool must) {
  std::int64_t picked = -1;
  if (!call(functions_.pick, static_cast<std::uint32_t>(index(worker)), static_cast<std::int32_t>(must),
            &picked))
    return take_any(worker);
  if (picked < 0) return nullptr;
  const auto task = static_cast<std::uint64_t>(picked);
  const auto found = task < ready_at_.size() ? ready_.find(ready_at_[task]) : ready_.end();
  if (found == ready_.end()) {
    fail(fmt::format("the policy picked task {}, which is not ready", picked));
    return take_any(worker);
  }
  if (!view().can_run(*found->second, worker)) {
    fail(fmt::format("the policy picked task {} for worker {}, which cannot run it", picked, index(worker)));
    return take_any(worker);
  }
  ready_at_[task] = not_ready;
  Task* const taken = found->second;
  ready_.erase(found);
  return taken;
}

Task* CallbackPolicy::take_any(WorkerId worker) {
  const auto found =
      std::ranges::find_if(ready_, [&](const auto& entry) { return view().can_run(*entry.second, worker); });
  if (found == ready_.end()) return nullptr;
  Task* const taken = found->second;
  ready_at_[number(*taken)] = not_ready;
  ready_.erase(found);
  return taken;
}

DatumId CallbackPolicy::victim(NodeId node, EvictionCandidates& candidates) {
  if (functions_.victim == nullptr || failure_.stop_requested.load()) return candidates.next();
  numbers_.clear();
  for (DatumId datum = candidates.next(); datum != no_id<DatumId>; datum = candidates.next())
    numbers_.push_back(static_cast<std::uint32_t>(index(datum)));
  if (numbers_.empty()) return no_id<DatumId>;
  std::uint32_t datum = numbers_.front();
  const std::uint32_t* const first = numbers_.data();
  if (call(functions_.victim, static_cast<std::uint32_t>(index(node)), first, numbers_.size(), &datum) &&
      std::ranges::find(numbers_, datum) == numbers_.end())
    fail(fmt::format("the policy evicts datum {}, which is no candidate", datum));
  return static_cast<DatumId>(std::ranges::find(numbers_, datum) == numbers_.end() ? *first : datum);
}

std::size_t CallbackPolicy::upcoming(WorkerId worker, std::span<DatumId> out) {
  numbers_.assign(out.size(), 0);
  std::size_t count = 0;
  if (!call(functions_.upcoming, static_cast<std::uint32_t>(index(worker)), numbers_.data(), out.size(),
            &count))
    return 0;
  if (count > out.size()) {
    fail(fmt::format("the policy wrote {} upcoming data, but there is space for {}", count, out.size()));
    return 0;
  }
  for (std::size_t i = 0; i < count; ++i) {
    if (numbers_[i] >= view_of_program_.data) {
      fail(fmt::format("the policy prefetches datum {}, but there are {}", numbers_[i],
                       view_of_program_.data));
      return 0;
    }
    out[i] = static_cast<DatumId>(numbers_[i]);
  }
  return count;
}

}  // namespace fairlead::c

using namespace fairlead;

double fairlead_policy_view_now(const fairlead_policy_view* view) { return seconds(view->state->now()); }

size_t fairlead_policy_view_workers(const fairlead_policy_view* view, fairlead_worker* workers,
                                    size_t capacity) {
  const auto all = view->state->workers();
  for (std::size_t i = 0; i < std::min(capacity, all.size()); ++i)
    workers[i] = {.is_device = all[i].kind != WorkerKind::cpu,
                  .node = static_cast<std::uint32_t>(index(all[i].node))};
  return all.size();
}

int32_t fairlead_policy_view_can_run(const fairlead_policy_view* view, uint64_t task, uint32_t worker) {
  const Task* const it = view->unfinished(task);
  return it != nullptr && view->has_worker(worker) &&
         view->state->can_run(*it, static_cast<WorkerId>(worker));
}

double fairlead_policy_view_estimate(const fairlead_policy_view* view, uint64_t task, uint32_t worker) {
  if (fairlead_policy_view_can_run(view, task, worker) == 0) return std::numeric_limits<double>::quiet_NaN();
  return seconds(view->state->estimate(*view->unfinished(task), static_cast<WorkerId>(worker)));
}

int32_t fairlead_policy_view_priority(const fairlead_policy_view* view, uint64_t task) {
  const Task* const it = view->unfinished(task);
  return it == nullptr ? 0 : it->priority;
}

const char* fairlead_policy_view_kernel(const fairlead_policy_view* view, uint64_t task) {
  const Task* const it = view->unfinished(task);
  return it == nullptr ? nullptr : it->codelet->name.c_str();
}

uint64_t fairlead_policy_view_missing_bytes(const fairlead_policy_view* view, uint64_t task, uint32_t node) {
  const Task* const it = view->unfinished(task);
  return it == nullptr || !view->has_node(node) ? 0
                                                : view->state->missing_bytes(*it, static_cast<NodeId>(node));
}

size_t fairlead_policy_view_accesses(const fairlead_policy_view* view, uint64_t task, uint32_t* data,
                                     uint8_t* modes, size_t capacity) {
  const Task* const it = view->unfinished(task);
  if (it == nullptr) return 0;
  const std::span<const Access> accesses = it->accesses();
  for (std::size_t i = 0; i < std::min(capacity, accesses.size()); ++i) {
    data[i] = static_cast<std::uint32_t>(index(accesses[i].datum));
    modes[i] = static_cast<std::uint8_t>(accesses[i].mode);
  }
  return accesses.size();
}

uint64_t fairlead_policy_view_bytes(const fairlead_policy_view* view, uint32_t datum) {
  return datum < view->data ? view->state->bytes(static_cast<DatumId>(datum)) : 0;
}

fairlead_residency fairlead_policy_view_residency(const fairlead_policy_view* view, uint32_t datum,
                                                  uint32_t node) {
  if (datum >= view->data || !view->has_node(node)) return FAIRLEAD_ABSENT;
  return static_cast<fairlead_residency>(
      view->state->residency(static_cast<DatumId>(datum), static_cast<NodeId>(node)));
}

double fairlead_policy_view_transfer_time(const fairlead_policy_view* view, uint32_t datum, uint32_t node) {
  if (datum >= view->data || !view->has_node(node)) return 0;
  return seconds(view->state->transfer_time(static_cast<DatumId>(datum), static_cast<NodeId>(node)));
}
