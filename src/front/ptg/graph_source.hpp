// The source of a parameterized graph's tasks: it hands out what its unfolding makes ready, by the direct lane or
// to the engine, and tells policies that plan of what lies ahead.
#pragma once
#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "front/flow/flow_source.hpp"
#include "front/ptg/ahead.hpp"
#include "front/ptg/early_end.hpp"
#include "front/ptg/fresh_data.hpp"
#include "front/ptg/initial_tasks.hpp"
#include "front/ptg/left_over.hpp"
#include "front/ptg/never_fed.hpp"
#include "front/ptg/over_ranks.hpp"
#include "front/ptg/unfolding.hpp"

namespace fairlead::ptg {

class GraphSource final : public front::FlowSource {
 public:
  /// `communicator`: null if the graph runs on this rank alone. `landing`: of what comes from others.
  GraphSource(engine::RuntimeCore& core, EarlyEnd& early_end, ClassTable table, MakeFresh make_fresh,
              net::Communicator* communicator, const front::LandingChoice& landing = {});
  ~GraphSource() override;

  /// See Graph::run().
  void run();
  std::uint64_t tasks() const noexcept { return tasks_; }
  /// Over ranks only.
  const Placement& placement() const noexcept { return over_ranks_->placement(); }

  void release(Task& over, ReadyTasks& ready) override;
  void count(std::size_t tasks, Recycler& recycler) override;
  bool more(ReadyTasks& ready) override;
  Task& describe(LazyTask& lazy, Recycler& recycler) override;
  std::string name_of(const Task& task) const override {
    return table_.text_of(static_cast<const ActiveTask&>(*task.lazy));
  }
  void given_away() noexcept override { unfolding_.share(); }

 private:
  struct alignas(64) Counts {
    std::atomic<std::uint64_t> handed_out{0};
  };
  struct Host {
    GraphSource& source;
    ReadyTasks& ready;
    const Telling& telling;
    std::size_t thread() const noexcept { return ready.recycler.thread(); }
    /// An end that is told to very many is left when nobody uses the results any more.
    bool full() const noexcept {
      return ready.full() || (source.early_end_.abandoned() && source.ahead_ == nullptr);
    }
    void satisfied(ActiveTask& task) { source.satisfied({&task, telling.worker, telling.at}, ready); }
    void unused(std::uint32_t number) { source.unused(number); }
    void misused(const std::string& why) { source.misused(why); }
  };

  // ---- the program's thread's
  void let_in_all();
  void see(Value& value);
  void wait_for_all();
  void make_more_fresh();
  /// Nobody will feed them; `why` that is a mistake of the graph, if it is one.
  void give_up_the_rest(const std::string& why);
  void wait_over_ranks();
  void end_over_ranks(std::uint64_t before, bool failed);
  std::string who_waits() const;
  /// Over ranks, and where values come home, a policy that plans hears of a task just before it gets it.
  bool announces_late() const noexcept { return table_.come_home && to_be_announced(); }
  bool plans() const noexcept { return to_be_announced() && !table_.come_home; }

  // ---- any thread's
  void end(Telling& telling, ReadyTasks& ready);
  void satisfied(const Satisfied& task, ReadyTasks& ready);
  void unused(std::uint32_t number);
  bool take_values(ActiveTask& task, const std::int64_t* numbers);
  const TaskFamily* family_of(const ActiveTask& task, const std::int64_t* numbers) const;
  void hand_out(const Satisfied& satisfied, ReadyTasks& ready);
  bool more_of_initial(ReadyTasks& ready);
  void hand_out(const Satisfied& satisfied, const Ahead::Announced& announced, ReadyTasks& ready);
  bool hand_out_announced(const Satisfied& satisfied, ReadyTasks& ready);
  bool announce_some(Recycler& recycler);
  bool announce_next(Recycler& recycler);
  void again(ActiveTask& starved);
  void tell_elsewhere(Telling& telling, const Task& over);
  void take_what_came(ReadyTasks& ready);
  bool still(std::uint64_t counted) const noexcept;
  bool has_few_ready(std::uint64_t counted) const noexcept;
  bool is_held_back() const noexcept;
  std::uint64_t handed_out() const noexcept;
  /// The graph is wrong: what is ready does not run any more, and run() says so.
  void misused(const std::string& why);

  EarlyEnd& early_end_;
  const ClassTable table_;
  TaskKinds kinds_;
  Values values_;
  FreshData fresh_;
  ActiveTasks active_;
  Unfolding unfolding_;
  InitialTasks initial_;
  LeftOver left_;
  std::unique_ptr<OverRanks> over_ranks_;  // null: the graph runs here alone
  std::vector<Counts> counts_;             // by thread
  std::uint64_t tasks_ = 0;
  std::atomic<std::uint64_t> counted_{0};  // that are over, in this run
  std::atomic<bool> initial_over_{true};
  // Of the first task, or, where they are announced late, of the next: whoever announces, one at a time.
  std::uint64_t first_id_ = 0;
  std::vector<WaitingTask> first_to_wait_;  // over ranks, when nothing moved any more. The program's thread's
  std::unique_ptr<Ahead> ahead_;            // null in a run whose policy does not plan. more()'s

  // Fixed for a run.
  std::uint32_t lane_ = 0;
  std::uint64_t data_seen_ = ~std::uint64_t{0};  // RuntimeCore::data_changes
  std::atomic<bool> all_in_lane_{false};
};

}  // namespace fairlead::ptg
