// The public Flow over the untyped one, and what bodies are given.
#include <fairlead/flow.hpp>

#include <fairlead/error.hpp>

#include <atomic>
#include <utility>

#include "backend/cpu/cpu_world.hpp"
#include "front/flow/flow_source.hpp"

namespace fairlead {

class Flow::Implementation {
 public:
  Implementation(std::shared_ptr<void> r, engine::RuntimeCore& c)
      : runtime(std::move(r)), core(c), source(std::make_unique<front::FlowSource>(core)) {}
  std::shared_ptr<void> runtime;  // there as long as the flow is
  engine::RuntimeCore& core;
  std::unique_ptr<front::FlowSource> source;
};

Flow::Flow(Runtime& runtime)
    : implementation_(std::make_unique<Implementation>(runtime.implementation_, runtime.core())) {}
Flow::~Flow() {
  auto& it = *implementation_;
  if (!it.source->finish()) it.core.keep(std::move(it.source));
}
void Flow::insert(const detail::Submission& submission, const std::shared_ptr<const CodeletInfo>& codelet) {
  implementation_->source->submit(submission, codelet);
}
/// Keeps the runtime, whose thread waits.
struct Future::State {
  std::shared_ptr<void> runtime;
  engine::RuntimeCore& core;
  std::shared_ptr<front::WatchedTask> task = std::make_shared<front::WatchedTask>();
};

Future::Future(std::shared_ptr<State> state) noexcept : state_(std::move(state)) {}
bool Future::done() const noexcept { return state_->task->over.load(); }
void Future::wait() const {
  state_->core.check_caller("wait");
  state_->core.engine().horizon_closed();
  state_->core.help_until([this] { return done(); });
  state_->task->rethrow();
}
Future Flow::insert_watched(const detail::Submission& submission,
                            const std::shared_ptr<const CodeletInfo>& codelet) {
  auto state = std::make_shared<Future::State>(implementation_->runtime, implementation_->core);
  implementation_->source->submit(submission, codelet, state->task);
  return Future(std::move(state));
}

void Flow::wait() { implementation_->source->wait(); }
void Flow::cancel() { implementation_->source->cancel(); }
std::uint64_t Flow::submitted() const noexcept { return implementation_->source->submitted(); }
std::uint64_t Flow::done() const noexcept { return implementation_->source->done(); }

namespace detail {

Place place_of(const TaskContext& context, unsigned access) noexcept {
  const Access& it = context.task->accesses_begin[access];
  return {it.address, it.packed};
}
void* closure_of(const TaskContext& context) noexcept { return context.task->closure.data(); }

}  // namespace detail

/// The task ends when its body has returned and the token was signalled, whichever comes last.
struct Completion::State {
  State(backend::CpuWorld* w, Task* t) noexcept : world(w), task(t) {}
  State(const State&) = delete;
  State& operator=(const State&) = delete;
  ~State() {
    if (!signalled.load())
      signal(std::make_exception_ptr(
          UsageError("the task's completion was dropped without having been signalled")));
  }

  void signal(std::exception_ptr cause) {
    if (signalled.exchange(true)) throw UsageError("a task's completion was signalled twice");
    signalled_failure = std::move(cause);
    one_less();
  }
  void returned(std::exception_ptr cause) {
    thrown = std::move(cause);
    one_less();
  }

 private:
  void one_less() {
    // acq_rel: the last one sees what the other has written.
    if (missing.fetch_sub(1, std::memory_order_acq_rel) != 1) return;
    world->end_asynchronous(*task, thrown != nullptr ? thrown : signalled_failure);
  }

  backend::CpuWorld* world;
  Task* task;
  std::atomic<int> missing{2};
  std::atomic<bool> signalled{false};
  std::exception_ptr thrown, signalled_failure;
};

Completion::Completion(const TaskContext& context)
    : state_(std::make_shared<State>(static_cast<backend::CpuWorld*>(context.runtime), context.task)) {}
void Completion::done() const { state_->signal(nullptr); }
void Completion::fail(std::exception_ptr cause) const {
  if (cause == nullptr) cause = std::make_exception_ptr(UsageError("its completion failed without a cause"));
  state_->signal(std::move(cause));
}
void Completion::body_returned(std::exception_ptr thrown) const { state_->returned(std::move(thrown)); }

}  // namespace fairlead
