// Flows of the C interface.
#include <fairlead/error.hpp>
#include <fairlead/factorization.hpp>

#include <fmt/format.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <exception>
#include <memory>
#include <span>
#include <utility>

#include "c/status.hpp"
#include "c/task_codelet.hpp"
#include "front/checkpoint/checkpointer.hpp"
#include "front/runtime/runtime_access.hpp"

struct fairlead_flow {
  std::shared_ptr<fairlead::c::RuntimeHost> host;
  std::weak_ptr<fairlead::front::FlowSource> source;  ///< null: the runtime was freed
};

namespace fairlead::c {

namespace {

static_assert(sizeof(void*) == sizeof(std::uint64_t), "words of fairlead_flow_submit_words() are pointers");

template <class Pointee>
Pointee* pointer_in(std::uint64_t word) noexcept {
  return reinterpret_cast<Pointee*>(static_cast<std::uintptr_t>(word));
}

std::shared_ptr<front::FlowSource> source_of(const fairlead_flow& flow) {
  auto source = flow.source.lock();
  if (!source) throw UsageError("the runtime of this object was freed");
  return source;
}

/// Runs body() on the thread of the runtime. A request to stop cancels the flow.
template <class Body>
void with_flow(fairlead_flow* flow, const Body& body) {
  fairlead_flow& it = *required(flow, "flow");
  it.host->run([&](const std::stop_token& stop) {
    front::FlowSource& source = *source_of(it);
    const std::stop_callback on_stop(stop, [&source] { source.cancel(); });
    try {
      body(source);
    } catch (const TaskError&) {
      if (!stop.stop_requested()) throw;
    }
    if (stop.stop_requested()) throw linalg::CancelledError("the flow was cancelled");
  });
}

/// Submits tasks to a flow, and counts them.
class Submitter {
 public:
  /// `host`: of the flow.
  Submitter(front::FlowSource& flow, const RuntimeHost& host, std::size_t& submitted)
      : flow_(flow), host_(host), submitted_(submitted) {}

  void submit(const fairlead_codelet* codelet, const GivenTask& task) {
    // Data of a runtime that was freed do not exist any more for the library.
    for (const fairlead_datum* const datum : task.data)
      if (required(datum, "a datum of a task")->host.get() != &host_)
        throw UsageError("a task uses data of another runtime than that of its flow");
    required(codelet, "the codelet of a task")->submit(flow_, task);
    ++submitted_;
  }
  std::size_t submitted() const noexcept { return submitted_; }

 private:
  front::FlowSource& flow_;
  const RuntimeHost& host_;
  std::size_t& submitted_;
};

void submit_structs(Submitter to, const fairlead_task* tasks, std::size_t count, std::size_t task_bytes) {
  const auto* at = reinterpret_cast<const std::byte*>(tasks);
  for (std::size_t i = 0; i < count; ++i, at += task_bytes) {
    const auto& task = *reinterpret_cast<const fairlead_task*>(at);
    if (task.data_count != 0) required(task.data, "data");
    if (task.argument_bytes != 0) required(task.arguments, "arguments");
    to.submit(task.codelet, {.data = {task.data, task.data_count},
                             .arguments = task.arguments,
                             .argument_bytes = task.argument_bytes,
                             .priority = task.priority,
                             .file = task.file == nullptr ? "" : task.file,
                             .line = static_cast<std::uint32_t>(task.line)});
  }
}

void submit_words(Submitter to, std::span<const std::uint64_t> words) {
  constexpr std::size_t head = 5;
  while (!words.empty()) {
    const std::uint64_t counts = words.size() < head ? 0 : words[head - 1];
    const std::size_t data = counts & 0xffff'ffff, arguments = counts >> 32;
    if (words.size() < head || words.size() - head < data + arguments)
      throw UsageError(fmt::format("the words of task {} are incomplete", to.submitted()));
    const auto* const file = pointer_in<const char>(words[2]);
    to.submit(pointer_in<const fairlead_codelet>(words[0]),
              {.data = {reinterpret_cast<fairlead_datum* const*>(words.data() + head), data},
               .arguments = words.data() + head + data,
               .argument_bytes = arguments * sizeof(std::uint64_t),
               .priority = static_cast<int>(static_cast<std::int64_t>(words[1])),
               .file = file == nullptr ? "" : file,
               .line = static_cast<std::uint32_t>(words[3])});
    words = words.subspan(head + data + arguments);
  }
}

/// What the body has returned whose failure the error nests; 0: the failure is another one.
int body_status_of(const TaskError& failure) {
  try {
    std::rethrow_if_nested(failure);
  } catch (const BodyError& error) {
    return error.status();
  } catch (...) {
  }
  return 0;
}

}  // namespace
}  // namespace fairlead::c

using namespace fairlead;

fairlead_status fairlead_flow_create(fairlead_runtime* runtime, fairlead_flow** flow) {
  return c::status_of([&] {
    const auto& host = c::required(runtime, "runtime")->host;
    c::required(flow, "flow");
    auto made = std::make_unique<fairlead_flow>(fairlead_flow{host, {}});
    host->run([&](const std::stop_token&) { made->source = host->open_flow(); });
    *flow = made.release();
  });
}

fairlead_status fairlead_flow_submit(fairlead_flow* flow, const fairlead_task* tasks, size_t count,
                                     size_t task_bytes, size_t* submitted) {
  return c::status_of([&] {
    if (count != 0) c::required(tasks, "tasks");
    if (task_bytes < sizeof(fairlead_task))
      throw UsageError(fmt::format("a task has {} bytes: pass sizeof(fairlead_task)", task_bytes));
    std::size_t done = 0;
    std::size_t& counted = submitted == nullptr ? done : *submitted;
    counted = 0;
    c::with_flow(flow, [&](front::FlowSource& source) {
      c::submit_structs({source, *flow->host, counted}, tasks, count, task_bytes);
    });
  });
}

fairlead_status fairlead_flow_submit_words(fairlead_flow* flow, const uint64_t* words, size_t word_count,
                                           size_t* submitted) {
  return c::status_of([&] {
    if (word_count != 0) c::required(words, "words");
    std::size_t done = 0;
    std::size_t& counted = submitted == nullptr ? done : *submitted;
    counted = 0;
    c::with_flow(flow, [&](front::FlowSource& source) {
      c::submit_words({source, *flow->host, counted}, {words, word_count});
    });
  });
}

fairlead_status fairlead_flow_wait(fairlead_flow* flow, int* body_status) {
  if (body_status != nullptr) *body_status = 0;
  return c::status_of([&] {
    c::with_flow(flow, [&](front::FlowSource& source) {
      try {
        source.wait();
      } catch (const TaskError& failure) {
        if (body_status != nullptr) *body_status = c::body_status_of(failure);
        throw;
      }
    });
  });
}

fairlead_status fairlead_flow_use_checkpoints(fairlead_flow* flow, const char* const* identity, size_t count,
                                              uint64_t* finished) {
  return c::status_of([&] {
    if (count != 0) c::required(identity, "identity");
    c::required(finished, "finished");
    front::CheckpointIdentity properties;
    for (std::size_t i = 0; i < count; ++i)
      properties.emplace_back(c::required(identity[2 * i], "a property of the identity"),
                              c::required(identity[2 * i + 1], "a value of the identity"));
    c::with_flow(flow, [&](front::FlowSource& source) {
      front::Checkpointer* const checkpointer = front::checkpointer_of(flow->host->runtime());
      *finished = checkpointer == nullptr ? 0 : checkpointer->use(std::move(properties), source);
    });
  });
}

fairlead_status fairlead_flow_cancel(fairlead_flow* flow) {
  return c::status_of([&] { c::source_of(*c::required(flow, "flow"))->cancel(); });
}

void fairlead_flow_free(fairlead_flow* flow) {
  if (flow == nullptr) return;
  const bool ended =
      flow->host->run_last([flow](const std::stop_token&) { flow->host->end_flow(flow->source.lock()); });
  if (ended) delete flow;  // otherwise its tasks may still refer to it: it is left to the end of the process
}
