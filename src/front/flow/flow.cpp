// Implements the public Flow, Future and Completion on top of FlowSource, and the functions through which
// task bodies obtain their data and scratch memory.
#include <fairlead/flow.hpp>

#include <fairlead/error.hpp>

#include <atomic>
#include <utility>

#include "engine/ended_thread.hpp"
#include "engine/runtime_core.hpp"
#include "front/flow/flow_implementation.hpp"
#include "front/ranks/rank_context.hpp"
#include "front/runtime/runtime_access.hpp"

namespace fairlead {

Flow::Flow(Runtime& runtime)
    : implementation_(std::make_unique<Implementation>(runtime.implementation_, front::core_of(runtime),
                                                       front::checkpointer_of(runtime))) {}
Flow::~Flow() {
  auto& it = *implementation_;
  if (!it.source->finish()) it.core.keep(std::move(it.source));
}
void Flow::insert(const detail::Submission& submission, const std::shared_ptr<const CodeletInfo>& codelet) {
  implementation_->source->submit(submission, codelet);
}
/// Owns the runtime, because wait() runs tasks on its thread.
struct Future::State {
  std::shared_ptr<void> runtime;
  engine::RuntimeCore& core;
  std::shared_ptr<front::ObservedTask> task = std::make_shared<front::ObservedTask>();
};

Future::Future(std::shared_ptr<State> state) noexcept : state_(std::move(state)) {}
bool Future::done() const noexcept { return state_->task->finished.load(); }
void Future::wait() const {
  state_->core.caller().check("wait");
  state_->core.engine().horizon_closed();
  state_->core.wait_until([this] { return done(); });
  if (!state_->task->own_data.empty()) state_->core.home_values().refresh(state_->task->own_data);
  state_->task->rethrow();
  if (!state_->task->own_data.empty()) state_->core.home_values().throw_if_lost(state_->task->own_data);
}
Future Flow::insert_extended(const detail::Submission& submission,
                             const std::shared_ptr<const CodeletInfo>& codelet,
                             const detail::Extras& extras) {
  auto& it = *implementation_;
  front::SubmissionOrder order;
  order.on_done = extras.on_done;
  for (const Future& future : extras.after) {
    const Future::State* before = future.state_.get();
    if (before == nullptr || &before->core != &it.core)
      throw UsageError("the task " + submission.codelet->name + " cannot run after " +
                       (before == nullptr ? "an empty future" : "a task of another runtime") +
                       "\n  submitted at " + submission.file + ":" + std::to_string(submission.line));
    order.after.push_back(before->task);
  }
  auto state = std::make_shared<Future::State>(Future::State{it.runtime, it.core});
  it.source->submit(submission, codelet, state->task, &order);
  return Future(std::move(state));
}

void Flow::drop_copies_of(const detail::DatumReference& datum, SourceLine where) {
  implementation_->core.caller().check("drop_copies");
  front::RankContext* const ranks = front::rank_context(implementation_->core.surroundings());
  if (ranks != nullptr) ranks->program().drop_copies(datum, where.file_name(), where.line());
}
std::uint64_t Flow::use_checkpoints(const std::vector<std::pair<std::string, std::string>>& identity,
                                    const CheckpointedState& state) {
  auto& it = *implementation_;
  return it.checkpointer == nullptr ? 0 : it.checkpointer->use(identity, *it.source, state);
}
void Flow::wait() { implementation_->source->wait(); }
void Flow::cancel() { implementation_->source->cancel(); }
std::uint64_t Flow::submitted() const noexcept { return implementation_->source->submitted(); }
std::uint64_t Flow::done() const noexcept { return implementation_->source->done(); }

namespace detail {

DatumLocation location_of(const TaskContext& context, unsigned access) noexcept {
  if (access == absent_access) [[unlikely]]
    return {nullptr, true};
  Access& it = context.task->accesses_begin[access];
  const DatumLocation location{it.address, it.is_packed_copy, it.fresh};
  it.fresh = false;  // another parameter may refer to the same datum
  return location;
}
void* closure_of(const TaskContext& context) noexcept {
  Task& task = *context.task;
  const std::size_t at = task.family->closure_at;
  return at != 0 ? reinterpret_cast<std::byte*>(task.lazy) + at : task.closure.data();
}
int checked_where(const CodeletInfo& codelet, int parameter, std::span<const int> uses) {
  const auto refuse = [&](const std::string& why) {
    throw UsageError("the task " + codelet.name + " cannot run where its argument " +
                     std::to_string(parameter) + " is: " + why);
  };
  if (parameter < 0 || static_cast<std::size_t>(parameter) >= uses.size())
    refuse("it has " + std::to_string(uses.size()) + " arguments, counted from 0");
  const int use = uses[static_cast<std::size_t>(parameter)];
  if (use < 0) refuse("that argument is not a datum");
  return use;
}
void throw_empty_list(const CodeletInfo& codelet) {
  throw UsageError("the task " + codelet.name + " is given an empty list: a list names at least one datum");
}
void* scratch_of(const TaskContext& context) noexcept {
  const Task& task = *context.task;
  if (task.scratch_bytes == 0) return nullptr;  // a task on the fast path has no reserved memory
  return context.world->address_of({.node = task.node, .offset = task.scratch});
}
Bytes checked_scratch(const CodeletInfo& codelet, ScratchSize size, Bytes element_bytes) {
  constexpr Bytes limit_bytes = Bytes{1} << 48;
  if (size.elements < 0 || static_cast<Bytes>(size.elements) > limit_bytes / element_bytes)
    throw UsageError("the task " + codelet.name + " requests scratch memory of " +
                     std::to_string(size.elements) + " elements");
  return scratch_bytes(size, element_bytes);
}

}  // namespace detail

/// A task with a completion token finishes when its body has returned and the token is signalled, in either order.
struct Completion::State {
  State(engine::RunnableWorld* w, Task* t) noexcept : world(w), task(t) {}
  State(const State&) = delete;
  State& operator=(const State&) = delete;
  ~State() {
    if (signalled.load()) return;
    std::exception_ptr why;
    try {
      throw UsageError("the task's completion was dropped without having been signalled");
    } catch (...) {
      why = std::current_exception();  // this UsageError, or std::bad_alloc if it could not be created
    }
    signal(std::move(why));
  }

  void signal(std::exception_ptr cause) {
    if (signalled.exchange(true)) throw UsageError("a task's completion was signalled twice");
    signalled_failure = std::move(cause);
    count_down();
  }
  void returned(std::exception_ptr cause) {
    thrown = std::move(cause);
    count_down();
  }

 private:
  void count_down() {
    // acq_rel: the second of the two calls sees what the first has written.
    if (missing.fetch_sub(1, std::memory_order_acq_rel) != 1) return;
    world->end_asynchronous(*task, thrown != nullptr ? thrown : signalled_failure);
  }

  engine::RunnableWorld* world;
  Task* task;
  std::atomic<int> missing{2};
  std::atomic<bool> signalled{false};
  std::exception_ptr thrown, signalled_failure;
};

Completion::Completion(const TaskContext& context)
    : state_(std::make_shared<State>(context.world, context.task)) {}
void Completion::done() const { state_->signal(nullptr); }
void Completion::fail(std::exception_ptr cause) const {
  if (cause == nullptr) cause = std::make_exception_ptr(UsageError("its completion failed without a cause"));
  state_->signal(std::move(cause));
}
void Completion::body_returned(std::exception_ptr thrown) const { state_->returned(std::move(thrown)); }
bool Completion::body_threw() const {
  const std::exception_ptr thrown = std::current_exception();
  state_->returned(thrown != nullptr ? thrown : engine::ended_thread());
  return thrown == nullptr;
}

}  // namespace fairlead
