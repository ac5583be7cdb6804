// LFQ, local flat queues, the scheduler of DAGuE. Bosilca et al. 2011, section III.B (the name is PaRSEC's). Each
// worker has a placeholder, which is a bounded buffer of tasks that cannot be stolen, and a waiting queue.
//   A task that a worker releases goes to that worker's placeholder. If it is full, the task goes to the beginning or
//   the end of the worker's waiting queue, "based on their priorities". A task released by a message goes to the queue
//   of the first compute thread.
//   A worker takes the first task of its placeholder, else the beginning of its queue, else the end of the others'
//   queues, "ordered by architectural proximity".
// A large placeholder keeps tasks near their data and lets other workers idle; without a placeholder, tasks migrate
// more than they should.
//
// Where the paper is silent: a task goes to the beginning of the queue if the queue is empty or the task's priority is
// at least that of the first task. Nothing displaces tasks in the placeholder. Among equally near victims the lowest
// comes first. All workers of the paper are alike. Here a task that its releasing worker cannot run goes to the queue
// of the nearest worker that can. A task without a releasing worker (submitted ready, or returned from a pipeline) goes
// to the first worker that can run it. The tasks of a lost worker go to other workers.
#include "schedule/lfq.hpp"

#include <algorithm>
#include <utility>
#include <vector>

#include "schedule/index/two_ended_queue.hpp"
#include "schedule/index/upcoming_reads.hpp"
#include "schedule/index/victims_by_distance.hpp"
#include "schedule/index/worker_sets.hpp"

namespace fairlead::schedule {
namespace {

class Lfq final : public Policy {
 public:
  explicit Lfq(std::size_t places) : places_(places) {}

  void ready(Task& task, WorkerId released_by) override {
    const std::size_t set = sets_.of(task);
    if (released_by != no_id<WorkerId> && may_have(set, released_by)) {
      TwoEndedQueue& placeholder = locals_[index(released_by)].placeholder;
      if (placeholder.size() < places_) return placeholder.push_back(task, set);
    }
    TwoEndedQueue& waiting = locals_[index(home_of(set, released_by))].waiting;
    if (waiting.empty() || task.priority >= waiting.front().priority)
      waiting.push_front(task, set);
    else
      waiting.push_back(task, set);
  }

  Task* pick(WorkerId worker, bool) override {
    const auto able = [&](std::size_t set) { return sets_.contains(set, worker); };
    if (Task* task = locals_[index(worker)].placeholder.take_front(able)) return task;
    if (Task* task = locals_[index(worker)].waiting.take_front(able)) return task;
    for (const WorkerId victim : victims_[index(worker)])
      if (Task* task = locals_[index(victim)].waiting.take_back(able)) return task;
    return nullptr;
  }
  // Nothing runs, but tasks remain in the placeholder of a stopped worker.
  Task* take_any(WorkerId worker) override {
    const auto able = [&](std::size_t set) { return sets_.contains(set, worker); };
    for (Local& local : locals_)
      for (TwoEndedQueue* queue : {&local.placeholder, &local.waiting})
        if (Task* task = queue->take_front(able)) return task;
    return nullptr;
  }

  std::size_t upcoming(WorkerId worker, std::span<DatumId> out) override {
    UpcomingReads found(out);
    const auto write = [&](const Task& task) { return found.add(task); };
    locals_[index(worker)].placeholder.for_each_while(write);
    locals_[index(worker)].waiting.for_each_while(write);
    return found.written();
  }

  void worker_lost(WorkerId lost) override {
    Local held;
    std::swap(held, locals_[index(lost)]);
    locals_[index(lost)].lost = true;
    const auto any = [](std::size_t) { return true; };
    for (TwoEndedQueue* queue : {&held.placeholder, &held.waiting})
      while (Task* task = queue->take_front(any)) ready(*task, lost);
  }

 private:
  struct Local {
    TwoEndedQueue placeholder, waiting;
    bool lost = false;
  };

  void attached() override {
    sets_.attach(view());
    victims_ = others_by_distance(view());
    locals_.resize(victims_.size());
  }

  bool may_have(std::size_t set, WorkerId worker) const {
    return !locals_[index(worker)].lost && sets_.contains(set, worker);
  }
  /// The worker in whose queue a task of that set of workers waits.
  WorkerId home_of(std::size_t set, WorkerId released_by) const {
    const auto fits = [&](WorkerId worker) { return may_have(set, worker); };
    if (released_by != no_id<WorkerId>) {
      if (fits(released_by)) return released_by;
      const auto& others = victims_[index(released_by)];
      const auto nearest = std::ranges::find_if(others, fits);
      if (nearest != others.end()) return *nearest;
    }
    const auto workers = view().workers();
    const auto first = std::ranges::find_if(workers, fits, &WorkerInfo::id);
    // None can run it: keep it where a worker that joins later finds it.
    return first != workers.end() ? first->id : workers.front().id;
  }

  std::size_t places_;
  WorkerSets sets_;
  std::vector<Local> locals_;                   // by worker
  std::vector<std::vector<WorkerId>> victims_;  // by worker, nearest first
};

}  // namespace

std::unique_ptr<Policy> make_lfq(const PolicyOptions& options) {
  return std::make_unique<Lfq>(static_cast<std::size_t>(options.integer("placeholder", 0, 1'000'000)));
}

}  // namespace fairlead::schedule
