// The public Flow over the untyped one, and what bodies are given.
#include <fairlead/flow.hpp>

#include <fairlead/error.hpp>

#include <atomic>

#include "backend/cpu/cpu_world.hpp"
#include "front/flow/flow_source.hpp"

namespace fairlead {

class Flow::Implementation {
 public:
  explicit Implementation(engine::RuntimeCore& core) : source(core) {}
  front::FlowSource source;
};

Flow::Flow(Runtime& runtime) : implementation_(std::make_unique<Implementation>(runtime.core())) {}
Flow::~Flow() = default;
void Flow::insert(const detail::Submission& submission, const std::shared_ptr<const CodeletInfo>& codelet) {
  implementation_->source.retain(codelet);
  implementation_->source.submit(submission);
}
void Flow::wait() { implementation_->source.wait(); }
void Flow::cancel() { implementation_->source.cancel(); }
std::uint64_t Flow::submitted() const noexcept { return implementation_->source.submitted(); }
std::uint64_t Flow::done() const noexcept { return implementation_->source.done(); }

namespace detail {

Place place_of(const TaskContext& context, unsigned access) noexcept {
  const Access& it = context.task->accesses_begin[access];
  return {it.address, it.packed};
}
void* closure_of(const TaskContext& context) noexcept { return context.task->closure.data(); }

}  // namespace detail

struct Completion::State {
  backend::CpuWorld* world;
  Task* task;
  std::atomic<bool> signalled{false};

  void end(std::exception_ptr failure) {
    if (signalled.exchange(true)) throw UsageError("a task's completion was signalled twice");
    world->end_asynchronous(*task, std::move(failure));
  }
  ~State() {
    if (!signalled.load())
      world->end_asynchronous(*task, std::make_exception_ptr(UsageError(
                                         "the task's completion was dropped without having been signalled")));
  }
};

Completion::Completion(const TaskContext& context)
    : state_(new State{static_cast<backend::CpuWorld*>(context.runtime), context.task}) {}
void Completion::done() const { state_->end(nullptr); }
void Completion::fail(std::exception_ptr cause) const { state_->end(std::move(cause)); }

}  // namespace fairlead
