// The thread-safe half of GraphSource: finished tasks, and the tasks that become ready.
#include "front/ptg/graph_source.hpp"

#include <fairlead/error.hpp>

#include <fmt/format.h>

#include <exception>
#include <utility>

#include "base/exception_text.hpp"
#include "front/runtime/views.hpp"

namespace fairlead::ptg {

namespace {
/// While this many tasks wait for fresh data, no initial task is started.
constexpr std::size_t most_starving = 64;

/// Refuses the graph before anything runs: tasks cannot wait for data that cannot be created.
void require_fresh_data(const ClassTable& table) {
  for (const TableClass& of : table.classes)
    for (const TableFlow& flow : of.flows)
      for (const Input& input : flow.inputs)
        if (input.kind == Place::Kind::fresh && !input.like_flow &&
            table.collections[input.memory.collection]->another == nullptr)
          throw UsageError(fmt::format(
              "the parameterized class {}: its flow \"{}\" is a fresh datum like those of {}, whose type "
              "does not support fresh data",
              text_of(*of.definition), flow.name, table.collections[input.memory.collection]->name));
}
}  // namespace

GraphSource::GraphSource(engine::RuntimeCore& core, EarlyTermination& early_end, ClassTable table,
                         MakeFresh make_fresh, net::Communicator* communicator,
                         const front::ReceivePlacementChoice& landing)
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
  kinds_.determine_workers(fit(), values_, communicator != nullptr);
  for (std::size_t i = 0; i < table_.classes.size(); ++i) {
    active_.expect(kinds_[i].lines);
    if (communicator == nullptr) tasks_ += table_.classes[i].count(table_.stop);
  }
  if (communicator == nullptr) return;
  over_ranks_ =
      std::make_unique<DistributedRun>(core_, *communicator, table_, values_, fresh_, left_, landing, [this] {
        has_more_ready();
        core_.world().wake(engine::WakeTarget::any_worker());
      });
  unfolding_.place_by(over_ranks_->placement());
  tasks_ = initial_.restrict_to(over_ranks_->placement());
}

GraphSource::~GraphSource() {
  if (core_.caller().same_process()) stop_handing_out();
}

void GraphSource::fail(const std::string& why) {
  early_end_.record_error(why);
  cancelled.store(true);
  if (over_ranks_ != nullptr) over_ranks_->failed(why);
}

void GraphSource::release(Task& over, ReadyTasks& ready) {
  if (over.failure != nullptr || over.cancelled) [[unlikely]] {
    outcome().note_failure(over);
    if (over.failure != nullptr && early_end_.failed()) cancelled.store(true);
  }
  auto& active = static_cast<TaskInstance&>(*over.lazy);
  const TableClass& of = table_.classes[active.task_class];
  const std::uint32_t* const values = active.values(of.parameters.size());
  if (!over.cancelled && over.failure == nullptr)
    for (const std::uint16_t i : of.written) {
      if (values[i] == no_value) continue;
      if (over_ranks_ != nullptr) over_ranks_->changed(over, values[i]);
      FlowValue& value = values_[values[i]];
      if (value.has_content.load(std::memory_order_relaxed)) continue;
      value.has_content.store(true, std::memory_order_relaxed);
      value.datum->ever_written = true;
    }
  if (over_ranks_ == nullptr && unfolding_.has_no_successors(of))
    return unfolding_.forget(active, ready.recycler.thread());
  CompletionNotice notice;
  notice.task = &active;
  notice.worker = over.worker;
  notice.at = over.at;
  notice.walk.stop_by(table_.stop);
  try {
    of.place(active.parameters(), notice.numbers.data());
  } catch (const UsageError& error) {
    return fail(error.what());
  }
  if (over_ranks_ != nullptr) notify_other_ranks(notice, over);
  notify_successors(notice, ready);
}

/// Sends the outputs of a finished task to other ranks. If it failed or was cancelled, the run ends on all ranks
/// instead.
void GraphSource::notify_other_ranks(CompletionNotice& notice, const Task& over) {
  if (over.failure != nullptr) return over_ranks_->failed(exception_text(over.failure, "a task failed"));
  if (over.cancelled || cancelled.load()) return over_ranks_->failed("the graph was cancelled");
  try {
    DistributedRun::OutgoingOutputs going = over_ranks_->outgoing(*notice.task, notice.numbers.data());
    unfolding_.count_elsewhere(notice, going.flows);
    if (!going.outputs.empty()) over_ranks_->send_outputs(*notice.task, std::move(going));
  } catch (const UsageError& error) {
    fail(error.what());
  }
}

/// Processes events from other ranks. Arrived values come before reports that all receivers have a value, since that
/// value may have arrived here and been sent on.
void GraphSource::process_remote_events(ReadyTasks& ready) {
  bool some = false;
  const auto guarded = [&](auto&& tell) {
    some = true;
    try {
      tell();
    } catch (const UsageError& error) {
      fail(error.what());
    }
  };
  for (ArrivedOutput came; !ready.full() && left_.take(came); left_.arrival_processed(came))
    guarded([&] {
      CompletionNotice notice = unfolding_.begin_arrival(came.task, came.output, came.number, came.forwarded,
                                                         ready.recycler.thread());
      notify_successors(notice, ready);
    });
  for (std::uint32_t number = 0; !ready.full() && left_.take_delivered(number); left_.done())
    guarded([&] {
      const CompletionNotice notice{};
      unfolding_.delivered(number, Host{*this, ready, notice});
    });
  // The thread that waits for the end of the run waits for these events too.
  if (some && left_.none()) core_.world().wake(engine::WakeTarget::application());
}

/// Notifies the successors; if interrupted, more() continues.
void GraphSource::notify_successors(CompletionNotice& notice, ReadyTasks& ready) {
  // Tasks announced to a policy must still run.
  if (early_end_.abandoned() && ahead_ == nullptr) [[unlikely]]
    return;
  try {
    if (unfolding_.notify_successors(notice, Host{*this, ready, notice})) [[likely]]
      return;
  } catch (const UsageError& error) {
    return fail(error.what());  // a formula has divided by 0: receivers not notified never start
  }
  left_.keep(notice);
  has_more_ready();
}

void GraphSource::recycle_value(std::uint32_t number) {
  values_[number].has_content.store(false, std::memory_order_relaxed);
  if (TaskInstance* const starved = fresh_.give_back(number)) retry(*starved);
  if (over_ranks_ != nullptr && fresh_.to_be_made()) core_.world().wake(engine::WakeTarget::application());
}

/// A task that waited for a fresh datum tries again.
void GraphSource::retry(TaskInstance& starved) {
  if (ahead_ == nullptr) {
    left_.keep(ReadyTask{.task = &starved});
  } else {
    left_.keep_ahead(starved);
  }
  has_more_ready();
}

void GraphSource::satisfied(const ReadyTask& task, ReadyTasks& ready) {
  if (!ready.full()) [[likely]] {
    if (ahead_ == nullptr && !announces_late()) return hand_out(task, ready);
    if (ahead_ == nullptr) {
      left_.keep(task);
      return has_more_ready();
    }
    if (Lookahead::Announced announced = ahead_->take(task.task->key); announced.task != nullptr) {
      hand_out(task, announced, ready);
      // It may be the last announced task without successors, so the announcement of further tasks must continue.
      if (!initial_over_.load(std::memory_order_relaxed) && ahead_->size() <= core_.window() / 2)
        has_more_ready();
      return;
    }
  }
  left_.keep(task);
  has_more_ready();
}

/// Takes the values that do not come from tasks. Returns false if a fresh datum is missing or a write-back task must
/// wait; the task is then retried later.
bool GraphSource::take_values(TaskInstance& task, const std::int64_t* numbers) {
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
      fresh_.queue_task(task, *kind);
      core_.world().wake(engine::WakeTarget::application());
      return false;
    }
    if (input->kind != Place::Kind::memory && input->kind != Place::Kind::home) continue;
    const std::uint32_t there = values_.at(input->memory, numbers);
    if (input->kind == Place::Kind::home && there != no_value) {
      if (values[0] == there || values[0] == no_value) continue;
      if (!unfolding_.reserve_for_write_back(there, task)) return false;
      values[i] = there;
      continue;
    }
    values[i] = there;
    const auto refuse = [&](const char* why) {
      fail(refused_input(table_, values_, task, i, *input, numbers, why));
    };
    if (values[i] == no_value) {
      std::string why = over_ranks_ == nullptr ? "" : over_ranks_->owner_of(input->memory, numbers);
      if (why.empty()) why = "and there is no such datum" + values_.extents_of(input->memory.collection);
      refuse(why.c_str());
      continue;
    }
    unfolding_.taken(values[i], table_.has_memory_conflicts[input->memory.collection], writes(flow.mode));
    const FlowValue& value = values_[values[i]];
    if (reads(flow.mode) && !value.has_content.load(std::memory_order_relaxed) &&
        !value.datum->ever_written && !front::has_value(*value.datum))
      refuse("which nothing has written yet");
  }
  return true;
}

const TaskFamily* GraphSource::family_of(const TaskInstance& task, const std::int64_t* numbers) const {
  const TaskKinds::Kind& kind = kinds_[task.task_class];
  return kind.has_priorities && kinds_.priority(task.task_class, numbers) > 0 ? &kind.urgent : &kind.ordinary;
}

void GraphSource::hand_out(const ReadyTask& satisfied, ReadyTasks& ready) {
  TaskInstance& task = *satisfied.task;
  const TableClass& of = table_.classes[task.task_class];
  const TaskKinds::Kind& kind = kinds_[task.task_class];
  const std::uint32_t* const values = task.values(of.parameters.size());
  bool all_came = true;
  for (std::size_t i = 0; i < of.data_flows; ++i) {
    all_came &= values[i] != no_value;
    if (values[i] != no_value) __builtin_prefetch(&values_[values[i]]);  // for describe(), which follows
  }
  task.family = &kind.ordinary;
  if (!all_came || kind.has_priorities) {
    try {
      Numbers numbers;
      of.place(task.parameters(), numbers.data());
      if (!all_came && !take_values(task, numbers.data())) return;
      task.family = family_of(task, numbers.data());
    } catch (const UsageError& error) {
      return fail(error.what());  // the task never runs, like one without its inputs
    }
  }
  // Takes the fast path if that is open.
  task.on_fast_path = kind.may_pass && (all_on_fast_path_.load(std::memory_order_relaxed) ||
                                        values_.on_fast_path(values, of.data_flows));
  auto& handed_out = counts_[ready.recycler.thread()].handed_out;
  handed_out.store(handed_out.load(std::memory_order_relaxed) + 1, std::memory_order_release);
  if (fast_path_ != 0 && ready.fast_path == fast_path_ && task.on_fast_path)
    return ready.add(static_cast<LazyTask&>(task));
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
  auto& active = static_cast<TaskInstance&>(lazy);
  Task& task = recycler.take();
  task.begin(static_cast<TaskId>(first_id_ + active.key), task.inline_access.data(), 0);
  task.family = active.family;
  task.at = {};
  try {
    kinds_.fill_descriptor(task, active, values_);
  } catch (const UsageError& error) {
    fail(error.what());  // the task does not run
  }
  task.lazy = &active;
  task.fast_path_generation = active.on_fast_path ? fast_path_ : 0;
  return task;
}

bool GraphSource::more(ReadyTasks& ready) {
  if (over_ranks_ != nullptr) process_remote_events(ready);
  if (ahead_ != nullptr) announce_some(ready.recycler);
  while (!ready.full()) {
    const bool some_left = !left_.none();
    if (ReadyTask kept; some_left && left_.take(kept)) {
      bool handed_out = true;
      ahead_ == nullptr ? hand_out(kept, ready) : void(handed_out = hand_out_announced(kept, ready));
      const bool later = !handed_out && !fresh_.given_up() && !ahead_->all_announced();
      if (later) left_.keep(kept);
      left_.done();
      if (later) return false;  // the source is called again when the fresh datum exists
    } else if (CompletionNotice notice; some_left && left_.take(notice)) {
      notify_successors(notice, ready);
      left_.done();
    } else if (ahead_ != nullptr ? !announce_some(ready.recycler)
                                 : fresh_.queued_tasks() >= most_starving || !hand_out_initial(ready)) {
      // The source is called again when work is left over, or a missing resource becomes free.
      if (fresh_.given_up() || cancelled.load()) core_.world().wake(engine::WakeTarget::application());
      return false;
    }
  }
  return !left_.none() || !initial_over_.load(std::memory_order_relaxed);
}

/// Announces tasks up to the policy's horizon. Returns false if there are none to add.
bool GraphSource::announce_some(Recycler& recycler) {
  for (TaskInstance* fed = nullptr; left_.take_ahead(fed); left_.done()) ahead_->retry(*fed);
  bool added = false;
  while (ahead_->size() < core_.window() && announce_next(recycler)) added = true;
  return added;
}

/// Hands out the next task without predecessors. Returns false if there is none left.
bool GraphSource::hand_out_initial(ReadyTasks& ready) {
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
    fail(error.what());
  }
  if (!found) {
    initial_over_.store(true);
    core_.world().wake(engine::WakeTarget::application());  // the graph may have stalled
    return false;
  }
  std::array<std::int64_t, Walk::most_loops> room;
  hand_out({.task = &unfolding_.make_initial(initial_.task_class(), initial_.parameters(room.data()),
                                             ready.recycler.thread())},
           ready);
  return true;
}

/// Announces one more task to the policy. Returns false if there is none now.
bool GraphSource::announce_next(Recycler& recycler) {
  TaskInstance* begins = nullptr;
  bool made = false;
  if (early_end_.abandoned()) ahead_->give_up();
  try {
    made = ahead_->next(
        recycler,
        [this](const TaskInstance& active, const std::int64_t* numbers) {
          return family_of(active, numbers);
        },
        [this](Task& task) { CountedSource::announce(task); }, begins,
        [this](const std::string& why) { fail(why); });
  } catch (const UsageError& error) {
    fail(error.what());
    ahead_->give_up();
  }
  if (begins != nullptr) left_.keep(ReadyTask{.task = begins});
  if (!made) {
    if (fresh_.has_waiters()) core_.world().wake(engine::WakeTarget::application());
    if ((ahead_->all_announced() || fresh_.given_up()) && !initial_over_.exchange(true)) {
      core_.engine().all_submitted();
      core_.world().wake(engine::WakeTarget::application());
    }
    return false;
  }
  return true;
}

/// Hands out a task that the policy has been notified of, or is notified of now. Returns false if a fresh datum must
/// be created first.
bool GraphSource::hand_out_announced(const ReadyTask& satisfied, ReadyTasks& ready) {
  Lookahead::Announced announced = ahead_->take(satisfied.task->key);
  while (announced.task == nullptr) {
    if (!announce_next(ready.recycler)) return false;
    announced = ahead_->take(satisfied.task->key);
  }
  hand_out(satisfied, announced, ready);
  return true;
}

/// Hands out a task that the policy has been notified of.
void GraphSource::hand_out(const ReadyTask& satisfied, const Lookahead::Announced& announced,
                           ReadyTasks& ready) {
  TaskInstance& task = *satisfied.task;
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

/// True if no task runs and none is left to be handed out, given that `counted` tasks have finished. A task is handed
/// out before the finished predecessor is counted, or it is left over, which the first conditions exclude. So if a
/// finished task is included in `counted`, the handing out of its successors is included in the sum that is read
/// afterwards.
bool GraphSource::is_quiescent(std::uint64_t counted) const noexcept {
  return initial_over_.load() && left_.none() && !fresh_.has_waiters() && counted == handed_out();
}
/// True if few tasks are ready, so that values held back by the limit should continue.
bool GraphSource::has_few_ready(std::uint64_t counted) const noexcept {
  return left_.none() && handed_out() <= counted + 2 * counts_.size();
}
std::uint64_t GraphSource::handed_out() const noexcept {
  std::uint64_t sum = 0;
  for (const Counts& counts : counts_) sum += counts.handed_out.load(std::memory_order_acquire);
  return sum;
}

void GraphSource::count(std::size_t tasks, Recycler& recycler) {
  engine::RunnableWorld& world = core_.world();
  const std::uint64_t counted = counted_.fetch_add(tasks) + tasks;
  const bool last = is_quiescent(counted) || (fresh_.has_waiters() && has_few_ready(counted));
  CountedSource::count(tasks, recycler);  // this object may be destroyed after this call
  if (last) world.wake(engine::WakeTarget::application());
}

}  // namespace fairlead::ptg
