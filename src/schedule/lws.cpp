// LWS, locality work stealing: a task goes to the queue of the worker that released it, where most of its data probably
// are. An idle worker steals from the end of a neighbour's queue, whose data probably are not there yet. Gonthier,
// Marchal, Thibault 2023, section 4.3.
//
// Where the paper is silent: a queue is sorted by priority, then by arrival. Tasks without a releasing worker, or that
// this worker cannot run, go round robin to the workers that can run them. Victims are tried in order of distance, then
// of id. "A set of tasks" is half of the victim's queue, rounded up, from the back, as far as the thief can run it; the
// thief then serves its own queue as usual.
#include "schedule/lws.hpp"

#include <algorithm>
#include <vector>

#include "schedule/index/upcoming_reads.hpp"
#include "schedule/index/urgency_queue.hpp"
#include "schedule/index/victims_by_distance.hpp"

namespace fairlead::schedule {
namespace {

class Lws final : public Policy {
 public:
  bool uses_local_queues() const override { return true; }

  void ready(Task& task, WorkerId released_by) override {
    ++changes_;
    if (released_by == no_id<WorkerId> || lost_[index(released_by)] || !view().can_run(task, released_by))
      released_by = in_turn(task);
    queues_[index(released_by)].insert(&task);
  }

  Task* pick(WorkerId worker, bool) override {
    UrgencyQueue& own = queues_[index(worker)];
    if (own.empty()) steal(worker);
    // Its own queue may hold tasks that it cannot run: those that no other worker could run either.
    return own.take_first([&](const Task& task) { return view().can_run(task, worker); });
  }

  std::size_t upcoming(WorkerId worker, std::span<DatumId> out) override {
    UpcomingReads found(out);
    queues_[index(worker)].for_each_while([&](const Task& task) { return found.add(task); });
    return found.written();
  }

  void worker_lost(WorkerId worker) override {
    lost_[index(worker)] = true;
    UrgencyQueue& queue = queues_[index(worker)];
    while (Task* task = queue.take_first([](const Task&) { return true; }))
      queues_[index(in_turn(*task))].insert(task);
    ++changes_;
  }

 private:
  void attached() override {
    const auto workers = view().workers();
    queues_ = std::vector<UrgencyQueue>(workers.size());
    lost_.assign(workers.size(), false);
    nothing_at_.assign(workers.size(), 0);
    victims_ = others_by_distance(view());
  }

  /// The next worker, round robin, that can run the task; the first worker not lost if none can.
  WorkerId in_turn(const Task& task) {
    const auto workers = view().workers();
    for (std::size_t i = 0; i < workers.size(); ++i) {
      const WorkerId worker = workers[(turn_ + i) % workers.size()].id;
      if (lost_[index(worker)] || !view().can_run(task, worker)) continue;
      turn_ = (turn_ + i + 1) % workers.size();
      return worker;
    }
    const auto alive = std::ranges::find(lost_, false);
    return static_cast<WorkerId>(alive == lost_.end() ? 0 : alive - lost_.begin());
  }

  void steal(WorkerId thief) {
    if (nothing_at_[index(thief)] == changes_) return;  // no change since its last failed attempt
    for (const WorkerId victim : victims_[index(thief)]) {
      UrgencyQueue& queue = queues_[index(victim)];
      loot_.clear();
      for (std::size_t most = (queue.size() + 1) / 2; most > 0; --most) {
        Task* task = queue.take_last([&](const Task& it) { return view().can_run(it, thief); });
        if (task == nullptr) break;
        loot_.push_back(task);
      }
      if (loot_.empty()) continue;
      for (auto task = loot_.rbegin(); task != loot_.rend(); ++task) queues_[index(thief)].insert(*task);
      ++changes_;  // other workers may steal from this queue
      return;
    }
    nothing_at_[index(thief)] = changes_;
  }

  std::vector<UrgencyQueue> queues_;            // by worker, most urgent first
  std::vector<std::vector<WorkerId>> victims_;  // by worker, nearest first
  std::vector<bool> lost_;                      // by worker
  std::vector<std::uint64_t> nothing_at_;  // by worker: value of changes_ at its last failed attempt to steal
  std::uint64_t changes_ = 1;
  std::size_t turn_ = 0;
  std::vector<Task*> loot_;
};

}  // namespace

std::unique_ptr<Policy> make_lws() { return std::make_unique<Lws>(); }

}  // namespace fairlead::schedule
