// AP, absolute priority: one queue shared by all workers and sorted by priority; an idle worker takes its head.
// Gonthier, Marchal, Thibault 2023, section 4.4 (PaRSEC's scheduler of that name).
//
// Two rules define the priority. ap: the bottom level, which the runtime computes (bottom_levels.hpp). ap-dplasma: the
// formula of DPLASMA's zpotrf_L.jdf. It depends on the indices of the task; MT is the number of rows of tiles:
//   potrf(k) (MT-k)^3                      trsm(m,k) (MT-m)^3 + 3 (m-k) (2 MT - k - m - 1)
//   herk(k,m) (MT-m)^3 + 3 (m-k)           gemm(m,n,k) (MT-m)^3 + 3 (m-n) (2 MT - m - n - 3) + 6 (m-k)
// The policy derives the indices from the coordinates of the tiles. Tasks that match none of the four use their bottom
// level; for a graph that mixes both kinds, ap is the better choice.
//
// Workers that cannot run the same tasks do not share a queue: each set of workers has its own queue. An idle worker
// takes the best head among the queues of the sets that contain it. No data are prefetched for tasks that no worker has
// picked.
#include "schedule/ap.hpp"

#include <algorithm>
#include <optional>
#include <vector>

#include "schedule/index/bottom_levels.hpp"
#include "schedule/index/ranked_queue.hpp"
#include "schedule/index/worker_sets.hpp"

namespace fairlead::schedule {
namespace {

enum class Rule : std::uint8_t { bottom_level, dplasma };

class Ap final : public Policy {
 public:
  explicit Ap(Rule rule) : rule_(rule) {}

  Notifications interests() const override { return Notifications::submitted | Notifications::progress; }

  void submitted(Task& task) override {
    if (rule_ == Rule::dplasma)
      for (const Access& access : task.accesses())
        rows_ = std::max(rows_, view().coordinates(access.datum).row + std::int64_t{1});
    levels_.submitted(task);
  }
  void horizon_closed() override { levels_.horizon_closed(); }
  void finished(Task& task, WorkerId, Duration) override { levels_.task_finished(task); }
  void cancelled(Task& task) override { levels_.task_finished(task); }
  void removed(DatumId datum) override { levels_.removed(datum); }

  void ready(Task& task, WorkerId) override { queue_of(task).insert({rank(task), ++order_, &task}); }

  Task* pick(WorkerId worker, bool) override {
    rank_again_if_changed();
    RankedQueue* best = nullptr;
    for (std::size_t set = 0; set < queues_.size(); ++set)
      if (sets_.contains(set, worker) && !queues_[set].empty() &&
          (best == nullptr || RankedQueue::LessUrgent{}(best->top(), queues_[set].top())))
        best = &queues_[set];
    return best == nullptr ? nullptr : best->take_top();
  }

 private:
  void attached() override {
    levels_.attach(view());
    sets_.attach(view());
  }

  RankedQueue& queue_of(const Task& task) {
    const std::size_t set = sets_.of(task);
    queues_.resize(sets_.size());
    return queues_[set];
  }

  void rank_again_if_changed() {
    if (ranked_ == levels_.version()) return;
    ranked_ = levels_.version();
    for (RankedQueue& queue : queues_) queue.update_ranks([&](const Task& task) { return rank(task); });
  }

  std::int64_t rank(const Task& task) {
    if (rule_ == Rule::dplasma)
      if (const auto priority = dplasma_priority(task); priority.has_value()) return *priority;
    return levels_.level(task.id);
  }

  std::optional<std::int64_t> dplasma_priority(const Task& task) const {
    View::Coordinates written, read[2];
    std::size_t reads_only = 0, writes_too = 0;
    for (const Access& access : task.accesses()) {
      const View::Coordinates at = view().coordinates(access.datum);
      if (at.row < 0 || at.column < 0) return std::nullopt;
      if (writes(access.mode)) {
        written = at;
        ++writes_too;
      } else if (reads_only++ < 2) {
        read[reads_only - 1] = at;
      }
    }
    if (writes_too != 1 || reads_only > 2) return std::nullopt;
    const std::int64_t m = written.row, n = written.column, left = rows_ - m, all = 2 * rows_;
    const std::int64_t k = reads_only == 0 ? n : read[0].column;
    const std::int64_t cube = left * left * left;
    if (reads_only == 0) return m == n ? std::optional(cube) : std::nullopt;
    if (reads_only == 2) return cube + 3 * (m - n) * (all - m - n - 3) + 6 * (m - k);
    if (m == n) return cube + 3 * (m - k);
    return cube + 3 * (m - k) * (all - k - m - 1);
  }

  Rule rule_;
  BottomLevels levels_;
  std::int64_t rows_ = 0;  // MT, of the tasks submitted so far
  WorkerSets sets_;
  std::vector<RankedQueue> queues_;  // by set of workers
  std::uint64_t order_ = 0;
  std::uint64_t ranked_ = 0;  // the value of levels_.computed() when the queues were last sorted
};

}  // namespace

std::unique_ptr<Policy> make_ap() { return std::make_unique<Ap>(Rule::bottom_level); }
std::unique_ptr<Policy> make_ap_dplasma() { return std::make_unique<Ap>(Rule::dplasma); }

}  // namespace fairlead::schedule
