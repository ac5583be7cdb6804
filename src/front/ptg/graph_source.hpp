// The task source of a parameterized graph: hands out the tasks that become ready, on the fast path or to the engine,
// and announces upcoming tasks to planning policies.
#pragma once
#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "front/flow/flow_source.hpp"
#include "front/ptg/deferred_work.hpp"
#include "front/ptg/describe_stall.hpp"
#include "front/ptg/distributed_run.hpp"
#include "front/ptg/early_termination.hpp"
#include "front/ptg/fresh_data.hpp"
#include "front/ptg/initial_tasks.hpp"
#include "front/ptg/lookahead.hpp"
#include "front/ptg/unfolding.hpp"

namespace fairlead::ptg {

/// One per graph; used for all its runs.
class GraphSource final : public front::FlowSource {
 public:
  /// `communicator`: null if the graph runs on this rank alone. `landing`: the memory in which values from other
  /// ranks arrive.
  GraphSource(engine::RuntimeCore& core, EarlyTermination& early_end, ClassTable table, MakeFresh make_fresh,
              net::Communicator* communicator, const front::ReceivePlacementChoice& landing = {});
  ~GraphSource() override;

  /// See Graph::run(). For the program's thread.
  void run();
  /// The number of tasks on this rank.
  std::uint64_t tasks() const noexcept { return tasks_; }
  /// Only with several ranks.
  const RankPlacement& placement() const noexcept { return over_ranks_->placement(); }

  void release(Task& over, ReadyTasks& ready) override;
  void count(std::size_t tasks, Recycler& recycler) override;
  bool more(ReadyTasks& ready) override;
  Task& describe(LazyTask& lazy, Recycler& recycler) override;
  std::string name_of(const Task& task) const override {
    return table_.text_of(static_cast<const TaskInstance&>(*task.lazy));
  }
  void given_away() noexcept override { unfolding_.share(); }

 private:
  struct alignas(64) Counts {
    std::atomic<std::uint64_t> handed_out{0};
  };
  struct Host {
    GraphSource& source;
    ReadyTasks& ready;
    const CompletionNotice& notice;
    std::size_t thread() const noexcept { return ready.recycler.thread(); }
    /// True if notifications must be interrupted: no space for ready tasks, or the results are no longer needed.
    bool full() const noexcept {
      return ready.full() || (source.early_end_.abandoned() && source.ahead_ == nullptr);
    }
    void satisfied(TaskInstance& task) { source.satisfied({&task, notice.worker, notice.at}, ready); }
    void unused(std::uint32_t number) { source.recycle_value(number); }
    void misused(const std::string& why) { source.fail(why); }
  };

  // ---- for the program's thread
  void enable_fast_path();
  void refresh_value(FlowValue& value);
  void wait_for_all();
  void make_more_fresh();
  /// Drops tasks that can never become ready. `why`: the error in the graph; empty if it is not the graph's fault.
  void drop_pending(const std::string& why);
  void wait_over_ranks();
  void end_over_ranks(std::uint64_t before, bool failed);
  std::string describe_pending() const;
  /// With write-back tasks (several ranks), a planning policy is notified of a task only just before the task is
  /// handed out.
  bool announces_late() const noexcept { return table_.has_write_backs && to_be_announced(); }
  bool plans() const noexcept { return to_be_announced() && !table_.has_write_backs; }

  // ---- thread-safe
  void notify_successors(CompletionNotice& notice, ReadyTasks& ready);
  void satisfied(const ReadyTask& task, ReadyTasks& ready);
  void recycle_value(std::uint32_t number);
  bool take_values(TaskInstance& task, const std::int64_t* numbers);
  const TaskFamily* family_of(const TaskInstance& task, const std::int64_t* numbers) const;
  void hand_out(const ReadyTask& satisfied, ReadyTasks& ready);
  bool hand_out_initial(ReadyTasks& ready);
  void hand_out(const ReadyTask& satisfied, const Lookahead::Announced& announced, ReadyTasks& ready);
  bool hand_out_announced(const ReadyTask& satisfied, ReadyTasks& ready);
  bool announce_some(Recycler& recycler);
  bool announce_next(Recycler& recycler);
  void retry(TaskInstance& starved);
  void notify_other_ranks(CompletionNotice& notice, const Task& over);
  void process_remote_events(ReadyTasks& ready);
  bool is_quiescent(std::uint64_t counted) const noexcept;
  bool has_few_ready(std::uint64_t counted) const noexcept;
  bool is_held_back() const noexcept;
  std::uint64_t handed_out() const noexcept;
  /// Records an error in the graph: ready tasks are cancelled, and run() throws.
  void fail(const std::string& why);

  EarlyTermination& early_end_;
  const ClassTable table_;
  TaskKinds kinds_;
  FlowValues values_;
  FreshData fresh_;
  TaskInstancePool active_;
  Unfolding unfolding_;
  InitialTasks initial_;
  DeferredWork left_;
  std::unique_ptr<DistributedRun> over_ranks_;  // null: this rank alone
  std::vector<Counts> counts_;                  // by thread
  std::uint64_t tasks_ = 0;
  std::atomic<std::uint64_t> counted_{0};  // finished tasks of this run
  std::atomic<bool> initial_over_{true};
  // The id of the first task; where tasks are announced late, of the next one. Used by one announcing thread at a
  // time.
  std::uint64_t first_id_ = 0;
  // set at quiescence, with several ranks; for the program's thread
  std::vector<WaitingTask> first_to_wait_;
  std::unique_ptr<Lookahead> ahead_;  // null unless the policy of this run plans; used by more() only

  // Constant during a run.
  std::uint32_t fast_path_ = 0;
  // the value of RuntimeCore::data_changes when the data were last checked
  std::uint64_t data_seen_ = ~std::uint64_t{0};
  std::atomic<bool> all_on_fast_path_{false};
};

}  // namespace fairlead::ptg
