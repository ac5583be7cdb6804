// See graph_source.hpp. Here is what any thread does: the ends of tasks, and what they make ready.
#include "front/ptg/graph_source.hpp"

#include <fairlead/error.hpp>

#include <fmt/format.h>

#include <exception>
#include <utility>

#include "base/exception_text.hpp"
#include "front/runtime/views.hpp"

namespace fairlead::ptg {

namespace {
/// While so many tasks wait for fresh data, none begins that waits for nothing.
constexpr std::size_t most_starving = 64;

/// Before anything runs: nobody can wait for data that cannot be made.
void require_fresh_data(const ClassTable& table) {
  for (const TableClass& of : table.classes)
    for (const TableFlow& flow : of.flows)
      for (const Input& input : flow.inputs)
        if (input.kind == Place::Kind::fresh && !input.like_flow &&
            table.collections[input.memory.collection]->another == nullptr)
          throw UsageError(fmt::format(
              "the parameterized class {}: its flow \"{}\" is a fresh datum like those of {}, of whose type "
              "none "
              "can be made",
              text_of(*of.definition), flow.name, table.collections[input.memory.collection]->name));
}
}  // namespace

GraphSource::GraphSource(engine::RuntimeCore& core, EarlyEnd& early_end, ClassTable table,
                         MakeFresh make_fresh, net::Communicator* communicator,
                         const front::LandingChoice& landing)
    : FlowSource(core),
      early_end_(early_end),
      table_(std::move(table)),
      kinds_(table_, *this),
      fresh_(values_, std::move(make_fresh)),
      active_(core.world().reporters()),
      unfolding_(table_, kinds_, values_, active_),
      initial_(table_),
      counts_(core.world().reporters()) {
  require_fresh_data(table_);
  values_.begin(table_, communicator != nullptr);
  fresh_.begin();
  kinds_.fit(fit(), values_, communicator != nullptr);
  for (std::size_t i = 0; i < table_.classes.size(); ++i) {
    active_.expect(kinds_[i].lines);
    if (communicator == nullptr) tasks_ += table_.classes[i].count(table_.stop);
  }
  if (communicator == nullptr) return;
  over_ranks_ =
      std::make_unique<OverRanks>(core_, *communicator, table_, values_, fresh_, left_, landing, [this] {
        left_something();
        core_.world().wake(engine::Who::any_worker());
      });
  unfolding_.place_by(over_ranks_->placement());
  tasks_ = initial_.restrict_to(over_ranks_->placement());
}

GraphSource::~GraphSource() {
  if (core_.caller().same_process()) stop_handing_out();
}

void GraphSource::misused(const std::string& why) {
  early_end_.misused(why);
  cancelled.store(true);
  if (over_ranks_ != nullptr) over_ranks_->failed(why);
}

void GraphSource::release(Task& over, ReadyTasks& ready) {
  if (over.failure != nullptr || over.cancelled) [[unlikely]] {
    outcome().note_failure(over);
    if (over.failure != nullptr && early_end_.failed()) cancelled.store(true);
  }
  auto& active = static_cast<ActiveTask&>(*over.lazy);
  const TableClass& of = table_.classes[active.task_class];
  const std::uint32_t* const values = active.values(of.parameters.size());
  if (!over.cancelled && over.failure == nullptr)
    for (const std::uint16_t i : of.written) {
      if (values[i] == no_value) continue;
      if (over_ranks_ != nullptr) over_ranks_->changed(over, values[i]);
      Value& value = values_[values[i]];
      if (value.has_content.load(std::memory_order_relaxed)) continue;
      value.has_content.store(true, std::memory_order_relaxed);
      value.datum->ever_written = true;
    }
  if (over_ranks_ == nullptr && unfolding_.tells_nobody(of))
    return unfolding_.forget(active, ready.recycler.thread());
  Telling telling;
  telling.over = &active;
  telling.worker = over.worker;
  telling.at = over.at;
  telling.walk.stop_by(table_.stop);
  try {
    of.place(active.parameters(), telling.numbers.data());
  } catch (const UsageError& error) {
    return misused(error.what());
  }
  if (over_ranks_ != nullptr) tell_elsewhere(telling, over);
  end(telling, ready);
}

/// Not where the run is over for all.
void GraphSource::tell_elsewhere(Telling& telling, const Task& over) {
  if (over.failure != nullptr) return over_ranks_->failed(said_by(over.failure, "a task failed"));
  if (over.cancelled || cancelled.load()) return over_ranks_->failed("the graph was cancelled");
  try {
    OverRanks::Going going = over_ranks_->going(*telling.over, telling.numbers.data());
    unfolding_.count_elsewhere(telling, going.flows);
    if (!going.outputs.empty()) over_ranks_->tell(*telling.over, std::move(going));
  } catch (const UsageError& error) {
    misused(error.what());
  }
}

/// From other ranks. What has come is told before who has got what: he may have it from here.
void GraphSource::take_what_came(ReadyTasks& ready) {
  bool some = false;
  const auto guarded = [&](auto&& tell) {
    some = true;
    try {
      tell();
    } catch (const UsageError& error) {
      misused(error.what());
    }
  };
  for (Came came; !ready.full() && left_.take(came); left_.told_of(came))
    guarded([&] {
      Telling telling =
          unfolding_.came(came.task, came.flow, came.number, came.passed_on, ready.recycler.thread());
      end(telling, ready);
    });
  for (std::uint32_t number = 0; !ready.full() && left_.take_given(number); left_.done())
    guarded([&] {
      const Telling telling{};
      unfolding_.left(number, Host{*this, ready, telling});
    });
  // Who waits for the end of the run waits for these, too.
  if (some && left_.none()) core_.world().wake(engine::Who::application());
}

/// Tells of the end; what there is no room for is for more().
void GraphSource::end(Telling& telling, ReadyTasks& ready) {
  // What has been announced to a policy is fed as ever.
  if (early_end_.abandoned() && ahead_ == nullptr) [[unlikely]]
    return;
  try {
    if (unfolding_.go_on(telling, Host{*this, ready, telling})) [[likely]]
      return;
  } catch (const UsageError& error) {
    return misused(error.what());  // a formula has divided by 0: who is not told is never fed
  }
  left_.keep(telling);
  left_something();
}

void GraphSource::unused(std::uint32_t number) {
  values_[number].has_content.store(false, std::memory_order_relaxed);
  if (ActiveTask* const starved = fresh_.give_back(number)) again(*starved);
  if (over_ranks_ != nullptr && fresh_.to_be_made()) core_.world().wake(engine::Who::application());
}

/// The task has starved for a fresh datum: it gets another turn.
void GraphSource::again(ActiveTask& starved) {
  if (ahead_ == nullptr) {
    left_.keep({.task = &starved});
  } else {
    left_.keep_ahead(starved);
  }
  left_something();
}

void GraphSource::satisfied(const Satisfied& task, ReadyTasks& ready) {
  if (!ready.full()) [[likely]] {
    if (ahead_ == nullptr && !announces_late()) return hand_out(task, ready);
    if (ahead_ == nullptr) {
      left_.keep(task);
      return left_something();
    }
    if (Ahead::Announced announced = ahead_->take(task.task->name); announced.task != nullptr) {
      hand_out(task, announced, ready);
      // It may be the last that was announced, and leave nothing when it ends: others may be announced in its place.
      if (!initial_over_.load(std::memory_order_relaxed) && ahead_->size() <= core_.window() / 2)
        left_something();
      return;
    }
  }
  left_.keep(task);
  left_something();
}

/// What does not come from tasks. False if there is no fresh datum for it now; then it gets another turn.
bool GraphSource::take_values(ActiveTask& task, const std::int64_t* numbers) {
  const TableClass& of = table_.classes[task.task_class];
  std::uint32_t* const values = task.values(of.parameters.size());
  for (std::size_t i = 0; i < of.data_flows; ++i) {
    const TableFlow& flow = of.flows[i];
    if (values[i] != no_value) continue;
    const Input* const input = input_of(flow, numbers);
    if (input == nullptr) continue;
    if (input->kind == Place::Kind::fresh) {
      const std::optional<std::uint32_t> kind = values_.kind_of(*input, values);
      if (!kind || (values[i] = fresh_.take(*kind, FreshUse::task)) != no_value) continue;
      fresh_.starve(task, *kind);
      core_.world().wake(engine::Who::application());
      return false;
    }
    if (input->kind != Place::Kind::memory && input->kind != Place::Kind::home) continue;
    const std::uint32_t there = values_.at(input->memory, numbers);
    if (input->kind == Place::Kind::home && there != no_value) {
      if (values[0] == there || values[0] == no_value) continue;
      if (!unfolding_.may_come_home(there, task)) return false;
      values[i] = there;
      continue;
    }
    values[i] = there;
    const auto refuse = [&](const char* why) {
      const std::string where = input->said == nullptr || !input->said->where
                                    ? std::string()
                                    : where_said(*input->said, *of.definition) + ": ";
      misused(fmt::format("{}the flow \"{}\" of {} takes {}, {}", where, flow.name, table_.text_of(task),
                          values_.text_of(input->memory, numbers), why));
    };
    if (values[i] == no_value) {
      std::string why = over_ranks_ == nullptr ? "" : over_ranks_->owner_of(input->memory, numbers);
      if (why.empty()) why = "and there is no such datum" + values_.extents_of(input->memory.collection);
      refuse(why.c_str());
      continue;
    }
    unfolding_.taken(values[i], table_.contested[input->memory.collection], writes(flow.mode));
    const Value& value = values_[values[i]];
    if (reads(flow.mode) && !value.has_content.load(std::memory_order_relaxed) &&
        !value.datum->ever_written && !front::has_value(*value.datum))
      refuse("which nothing has written yet");
  }
  return true;
}

const TaskFamily* GraphSource::family_of(const ActiveTask& task, const std::int64_t* numbers) const {
  const TaskKinds::Kind& kind = kinds_[task.task_class];
  return kind.has_priorities && kinds_.priority(task.task_class, numbers) > 0 ? &kind.urgent : &kind.ordinary;
}

void GraphSource::hand_out(const Satisfied& satisfied, ReadyTasks& ready) {
  ActiveTask& task = *satisfied.task;
  const TableClass& of = table_.classes[task.task_class];
  const TaskKinds::Kind& kind = kinds_[task.task_class];
  const std::uint32_t* const values = task.values(of.parameters.size());
  bool all_came = true;
  for (std::size_t i = 0; i < of.data_flows; ++i) {
    all_came &= values[i] != no_value;
    if (values[i] != no_value) __builtin_prefetch(&values_[values[i]]);  // describe() is next
  }
  task.family = &kind.ordinary;
  if (!all_came || kind.has_priorities) {
    try {
      Numbers numbers;
      of.place(task.parameters(), numbers.data());
      if (!all_came && !take_values(task, numbers.data())) return;
      task.family = family_of(task, numbers.data());
    } catch (const UsageError& error) {
      return misused(error.what());  // it is as one that nobody feeds
    }
  }
  // By the direct lane, if that is open.
  task.passes = kind.may_pass &&
                (all_in_lane_.load(std::memory_order_relaxed) || values_.in_lane(values, of.data_flows));
  auto& handed_out = counts_[ready.recycler.thread()].handed_out;
  handed_out.store(handed_out.load(std::memory_order_relaxed) + 1, std::memory_order_release);
  if (lane_ != 0 && ready.lane == lane_ && task.passes) return ready.add(static_cast<LazyTask&>(task));
  unfolding_.share();
  Task& described = describe(task, ready.recycler);
  described.worker = satisfied.worker;
  described.at = satisfied.at;
  if (announces_late()) {
    described.id = static_cast<TaskId>(first_id_++);
    CountedSource::announce(described);
  }
  ready.add(described);
}

Task& GraphSource::describe(LazyTask& lazy, Recycler& recycler) {
  auto& active = static_cast<ActiveTask&>(lazy);
  Task& task = recycler.take();
  task.begin(static_cast<TaskId>(first_id_ + active.name), task.inline_access.data(), 0);
  task.family = active.family;
  task.at = {};
  try {
    kinds_.fill(task, active, values_);
  } catch (const UsageError& error) {
    misused(error.what());  // then it does not run
  }
  task.lazy = &active;
  task.lane = active.passes ? lane_ : 0;
  return task;
}

bool GraphSource::more(ReadyTasks& ready) {
  if (over_ranks_ != nullptr) take_what_came(ready);
  if (ahead_ != nullptr) announce_some(ready.recycler);
  while (!ready.full()) {
    const bool some_left = !left_.none();
    if (Satisfied kept; some_left && left_.take(kept)) {
      bool handed_out = true;
      ahead_ == nullptr ? hand_out(kept, ready) : void(handed_out = hand_out_announced(kept, ready));
      const bool later = !handed_out && !fresh_.given_up() && !ahead_->all_made();
      if (later) left_.keep(kept);
      left_.done();
      if (later) return false;  // who makes the fresh datum that is missing adds us again
    } else if (Telling telling; some_left && left_.take(telling)) {
      end(telling, ready);
      left_.done();
    } else if (ahead_ != nullptr ? !announce_some(ready.recycler)
                                 : fresh_.starving() >= most_starving || !more_of_initial(ready)) {
      // Whoever leaves something, or frees what is missing, adds us again.
      if (fresh_.given_up() || cancelled.load()) core_.world().wake(engine::Who::application());
      return false;
    }
  }
  return !left_.none() || !initial_over_.load(std::memory_order_relaxed);
}

/// As far as the policy looks. False if nothing was added.
bool GraphSource::announce_some(Recycler& recycler) {
  for (ActiveTask* fed = nullptr; left_.take_ahead(fed); left_.done()) ahead_->again(*fed);
  bool added = false;
  while (ahead_->size() < core_.window() && announce_next(recycler)) added = true;
  return added;
}

/// A task that waits for nothing. False if there is none any more.
bool GraphSource::more_of_initial(ReadyTasks& ready) {
  if (initial_over_.load(std::memory_order_relaxed)) return false;
  bool found = false;
  try {
    found =
        !early_end_.abandoned() && initial_.next([&](std::size_t task_class, const std::int64_t* numbers) {
          return unfolding_.is_initial(task_class, numbers);
        });
  } catch (const WalkStopped&) {
    found = false;
  } catch (const UsageError& error) {
    misused(error.what());
  }
  if (!found) {
    initial_over_.store(true);
    core_.world().wake(engine::Who::application());  // perhaps nothing moves any more
    return false;
  }
  std::array<std::int64_t, Walk::most_loops> room;
  hand_out({.task = &unfolding_.make_initial(initial_.task_class(), initial_.parameters(room.data()),
                                             ready.recycler.thread())},
           ready);
  return true;
}

/// Tells the policy of one task more. False if there is none now.
bool GraphSource::announce_next(Recycler& recycler) {
  ActiveTask* begins = nullptr;
  bool made = false;
  if (early_end_.abandoned()) ahead_->give_up();
  try {
    made = ahead_->next(
        recycler,
        [this](const ActiveTask& active, const std::int64_t* numbers) { return family_of(active, numbers); },
        [this](Task& task) { CountedSource::announce(task); }, begins,
        [this](const std::string& why) { misused(why); });
  } catch (const UsageError& error) {
    misused(error.what());
    ahead_->give_up();
  }
  if (begins != nullptr) left_.keep({.task = begins});
  if (!made) {
    if (fresh_.wanted()) core_.world().wake(engine::Who::application());
    if ((ahead_->all_made() || fresh_.given_up()) && !initial_over_.exchange(true)) {
      core_.engine().all_submitted();
      core_.world().wake(engine::Who::application());
    }
    return false;
  }
  return true;
}

/// The policy knows the task, or hears of it now. False if a fresh datum has to be made first.
bool GraphSource::hand_out_announced(const Satisfied& satisfied, ReadyTasks& ready) {
  Ahead::Announced announced = ahead_->take(satisfied.task->name);
  while (announced.task == nullptr) {
    if (!announce_next(ready.recycler)) return false;
    announced = ahead_->take(satisfied.task->name);
  }
  hand_out(satisfied, announced, ready);
  return true;
}

/// A task that the policy knows.
void GraphSource::hand_out(const Satisfied& satisfied, const Ahead::Announced& announced, ReadyTasks& ready) {
  ActiveTask& task = *satisfied.task;
  const TableClass& of = table_.classes[task.task_class];
  std::uint32_t* const values = task.values(of.parameters.size());
  Numbers numbers;
  of.place(task.parameters(), numbers.data());
  for (std::size_t i = 0; i < of.data_flows; ++i)
    if (announced.values[i] != no_value && values_[announced.values[i]].fresh)
      values[i] = announced.values[i];
  static_cast<void>(take_values(task, numbers.data()));
  auto& handed_out = counts_[ready.recycler.thread()].handed_out;
  handed_out.store(handed_out.load(std::memory_order_relaxed) + 1, std::memory_order_release);
  task.family = announced.task->family;
  announced.task->lazy = &task;
  announced.task->worker = satisfied.worker;
  announced.task->at = satisfied.at;
  ready.add(*announced.task);
}

/// Nothing runs, and nothing is left to be handed out: `counted` tasks are over. Each was handed out by somebody
/// who then counted his own task, but for those that had been left over, of which the first line tells. So once
/// somebody's end is seen in `counted`, his successors' handing out is seen in what is added up after it.
bool GraphSource::still(std::uint64_t counted) const noexcept {
  return initial_over_.load() && left_.none() && !fresh_.wanted() && counted == handed_out();
}
/// Of what is held back more may come.
bool GraphSource::has_few_ready(std::uint64_t counted) const noexcept {
  return left_.none() && handed_out() <= counted + 2 * counts_.size();
}
std::uint64_t GraphSource::handed_out() const noexcept {
  std::uint64_t sum = 0;
  for (const Counts& counts : counts_) sum += counts.handed_out.load(std::memory_order_acquire);
  return sum;
}

void GraphSource::count(std::size_t tasks, Recycler& recycler) {
  engine::DrivenWorld& world = core_.world();
  const std::uint64_t counted = counted_.fetch_add(tasks) + tasks;
  const bool last = still(counted) || (fresh_.wanted() && has_few_ready(counted));
  CountedSource::count(tasks, recycler);  // after that we may be gone
  if (last) world.wake(engine::Who::application());
}

}  // namespace fairlead::ptg
