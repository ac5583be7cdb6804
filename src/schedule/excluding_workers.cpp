// The machine as the inner policy sees it: the excluded workers can run only tasks that no other worker can run.
#include "schedule/excluding_workers.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "policy/forwarding_policy.hpp"
#include "policy/forwarding_view.hpp"
#include "schedule/policies.hpp"

namespace fairlead::schedule {
namespace {

class RestrictedView final : public ForwardingView {
 public:
  RestrictedView(View& outer, const std::vector<std::size_t>& left_out)
      : ForwardingView(outer), left_out_(outer.workers().size(), false) {
    for (const std::size_t worker : left_out)
      if (worker < left_out_.size()) left_out_[worker] = true;
  }
  bool can_run(const Task& task, WorkerId worker) const override {
    return ForwardingView::can_run(task, worker) && (!is_left_out(worker) || !another_can(task));
  }
  bool is_left_out(WorkerId worker) const { return left_out_[index(worker)]; }
  bool another_can(const Task& task) const {
    return std::ranges::any_of(workers(), [&](const WorkerInfo& worker) {
      return !is_left_out(worker.id) && ForwardingView::can_run(task, worker.id);
    });
  }

 private:
  std::vector<bool> left_out_;  // by worker
};

class ExcludingWorkers final : public ForwardingPolicy<ExcludingWorkers> {
 public:
  ExcludingWorkers(std::unique_ptr<Policy> inner, std::vector<std::size_t> left_out)
      : ForwardingPolicy(std::move(inner)), left_out_(std::move(left_out)) {}
  Notifications interests() const override { return ForwardingPolicy::interests() | Notifications::progress; }
  bool uses_local_queues() const override { return false; }

  void ready(Task& task, WorkerId released_by) override {
    note(task);
    inner().ready(task, released_by);
  }
  void returned(Task& task) override {
    note(task);
    inner().returned(task);
  }
  void cancelled(Task& task) override {
    only_excluded_can_run_.erase(task.id);
    inner().cancelled(task);
  }
  void finished(Task& task, WorkerId worker, Duration took) override {
    only_excluded_can_run_.erase(task.id);
    inner().finished(task, worker, took);
  }
  void worker_lost(WorkerId lost) override {
    any_lost_ = true;
    inner().worker_lost(lost);
  }
  // Without this check, the inner policy would scan all ready tasks each time an idle excluded worker polls.
  Task* pick(WorkerId worker, bool must) override {
    return has_no_task_for(worker) ? nullptr : inner().pick(worker, must);
  }
  std::size_t upcoming(WorkerId worker, std::span<DatumId> out) override {
    return has_no_task_for(worker) ? 0 : inner().upcoming(worker, out);
  }

 private:
  void note(const Task& task) {
    if (!narrowed_->another_can(task)) only_excluded_can_run_.insert(task.id);
  }
  bool has_no_task_for(WorkerId worker) const {
    return !any_lost_ && only_excluded_can_run_.empty() && narrowed_->is_left_out(worker);
  }
  void attached() override { inner().attach(narrowed_.emplace(view(), left_out_)); }

  const std::vector<std::size_t> left_out_;
  std::optional<RestrictedView> narrowed_;
  std::set<TaskId> only_excluded_can_run_;  // ready or running tasks that only excluded workers can run
  bool any_lost_ = false;                   // then the set of workers that can run a task may have changed
};

std::vector<std::size_t> numbers_in(const PolicyOptions& options) {
  const std::string& text = options.text("workers");
  std::vector<std::size_t> numbers;
  for (const char *at = text.data(), *const end = at + text.size();; ++at) {
    std::size_t number = 0;
    const auto [behind, error] = std::from_chars(at, end, number);
    if (error != std::errc{} || (behind != end && *behind != '+'))
      options.refuse("workers", fmt::format("is \"{}\", and must be numbers of workers, as in 3+4+5", text));
    numbers.push_back(number);
    if ((at = behind) == end) return numbers;
  }
}

}  // namespace

std::unique_ptr<Policy> make_without(const PolicyOptions& options) {
  const std::string& name = options.text("policy");
  if (name_in(name) == "without") options.refuse("policy", "cannot be itself");
  return std::make_unique<ExcludingWorkers>(make_policy(name), numbers_in(options));
}

}  // namespace fairlead::schedule
