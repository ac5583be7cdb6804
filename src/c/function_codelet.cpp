// Codelets whose body is a function of the program.
#include <fairlead/error.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <new>
#include <string>
#include <utility>
#include <vector>

#include "base/small_array.hpp"
#include "c/status.hpp"
#include "c/task_codelet.hpp"
#include "data/task.hpp"

namespace fairlead::c {

namespace {

using fairlead::detail::AccessIndex;
using fairlead::detail::Submission;

constexpr std::size_t usual_data = 8;
constexpr std::size_t argument_alignment = 8;

// The text that a body reports belongs to the thread that runs it.
thread_local std::string reported_text;

struct BodyFunction {
  std::string name;
  fairlead_body function;
  fairlead_release release;
  void* context;
  std::vector<fairlead_access> modes;

  /// The last mode is that of all further data.
  fairlead_access mode(std::size_t datum) const noexcept { return modes[std::min(datum, modes.size() - 1)]; }
};

/// What a task stores of its call: a head, then the data, their accesses, and the arguments. In the task's descriptor if
/// there is room, otherwise on the heap.
class StoredCall {
 public:
  struct Head {
    std::uint32_t data, argument_bytes;
    const BodyFunction* body;
    std::byte* heap;  // only this far in a descriptor without room
  };

  /// Of a task.
  explicit StoredCall(void* closure) noexcept : at_(static_cast<std::byte*>(closure)) {
    std::memcpy(&head_, at_, inside_bytes);
    if (fits(head_)) return;
    std::memcpy(&head_.heap, at_ + inside_bytes, sizeof head_.heap);
    at_ = head_.heap;
  }
  static void store(void* closure, const BodyFunction& body, const GivenTask& task,
                    const AccessIndex* access_of_use) {
    Head head{static_cast<std::uint32_t>(task.data.size()), static_cast<std::uint32_t>(task.argument_bytes),
              &body, nullptr};
    auto* at = static_cast<std::byte*>(closure);
    if (!fits(head)) {
      head.heap = new std::byte[bytes(head)];
      std::memcpy(at + inside_bytes, &head.heap, sizeof head.heap);
    }
    std::memcpy(at, &head, inside_bytes);
    if (head.heap != nullptr) at = head.heap;
    std::memcpy(at + data_offset, task.data.data(), head.data * pointer_bytes);
    std::memcpy(at + access_offset(head), access_of_use, head.data * sizeof(AccessIndex));
    if (head.argument_bytes != 0)
      std::memcpy(at + argument_offset(head), task.arguments, head.argument_bytes);
  }
  static void destroy(void* closure) {
    const StoredCall call(closure);
    if (call.head_.body->release != nullptr)
      call.head_.body->release(call.head_.body->context, call.arguments());
    delete[] call.head_.heap;
  }

  std::size_t data() const noexcept { return head_.data; }
  std::size_t argument_bytes() const noexcept { return head_.argument_bytes; }
  const fairlead_datum& datum(std::size_t i) const noexcept {
    const fairlead_datum* datum = nullptr;
    std::memcpy(&datum, at_ + data_offset + i * pointer_bytes, pointer_bytes);
    return *datum;
  }
  AccessIndex access(std::size_t i) const noexcept {
    AccessIndex access = 0;
    std::memcpy(&access, at_ + access_offset(head_) + i * sizeof access, sizeof access);
    return access;
  }
  void* arguments() const noexcept { return at_ + argument_offset(head_); }

 private:
  static constexpr std::size_t inside_bytes = offsetof(Head, heap), data_offset = inside_bytes,
                               pointer_bytes = sizeof(void*);

  static std::size_t bytes(const Head& head) noexcept { return argument_offset(head) + head.argument_bytes; }
  static bool fits(const Head& head) noexcept { return bytes(head) <= closure_bytes; }
  static std::size_t access_offset(const Head& head) noexcept {
    return data_offset + head.data * pointer_bytes;
  }
  static std::size_t argument_offset(const Head& head) noexcept {
    const std::size_t end = access_offset(head) + head.data * sizeof(AccessIndex);
    return (end + argument_alignment - 1) / argument_alignment * argument_alignment;
  }

  std::byte* at_;
  Head head_{};
};

void run_function(const void* body, TaskContext& context) {
  const auto& it = *static_cast<const BodyFunction*>(body);
  const StoredCall stored(fairlead::detail::closure_of(context));
  SmallArray<fairlead_view, usual_data> views(stored.data());
  for (std::size_t i = 0; i < stored.data(); ++i)
    views[i] = view_of(stored.datum(i), it.mode(i), fairlead::detail::location_of(context, stored.access(i)));
  const fairlead_call call{.context = it.context,
                           .views = views.data(),
                           .view_count = stored.data(),
                           .arguments = stored.arguments(),
                           .argument_bytes = stored.argument_bytes()};
  const BodyMark in_body;
  const int status = it.function(&call);
  if (status == 0) [[likely]]
    return;
  std::string text = std::exchange(reported_text, {});
  throw BodyError(text.empty() ? fmt::format("its body returned {}", status) : text, status);
}

class FunctionCodelet final : public fairlead_codelet {
 public:
  FunctionCodelet(BodyFunction body, bool repeat_last)
      : repeat_last_(repeat_last), body_(std::make_shared<const BodyFunction>(std::move(body))) {
    auto info = std::make_shared<CodeletInfo>();
    info->name = body_->name;
    info->kinds = 0;
    for (const fairlead_access mode : body_->modes) info->modes.push_back(mode_of(mode));
    for (const WorkerKind kind : {WorkerKind::cpu, WorkerKind::emulated})
      info->implement(kind, {.run = &run_function, .body = body_});
    info->hash_of_name = info->name_hash();
    info->closure_bytes = closure_bytes;
    info->destroy_closure = &StoredCall::destroy;
    info_ = std::move(info);
  }

  void submit(front::FlowSource& flow, const GivenTask& task) const override {
    const std::size_t modes = body_->modes.size();
    if (repeat_last_ ? task.data.size() < modes : task.data.size() != modes)
      throw UsageError(fmt::format("the task {} has {} data, and its codelet {}{}", body_->name,
                                   task.data.size(), modes, repeat_last_ ? " or more" : ""));
    SmallArray<Submission::Use, usual_data> uses(task.data.size());
    for (std::size_t i = 0; i < task.data.size(); ++i) {
      const fairlead_datum& datum = *task.data[i];
      uses[i] = {datum.reference.datum, info_->modes[std::min(i, modes - 1)], datum.reference.generation};
    }
    Submission submission;
    submission.codelet = info_.get();
    submission.uses = uses.all();
    submission.priority = task.priority;
    submission.file = task.file;
    submission.line = task.line;
    struct Given {
      const BodyFunction& body;
      const GivenTask& task;
    } const all{*body_, task};
    submission.fill_closure = [](void* closure, const void* arguments, const AccessIndex* access_of_use) {
      const auto& [body, given] = *static_cast<const Given*>(arguments);
      StoredCall::store(closure, body, given, access_of_use);
    };
    submission.arguments = &all;
    flow.submit(submission, info_);
  }

 private:
  bool repeat_last_;
  std::shared_ptr<const BodyFunction> body_;
  std::shared_ptr<const CodeletInfo> info_;
};

}  // namespace
}  // namespace fairlead::c

using namespace fairlead;

void fairlead_body_error(const char* text) {
  try {
    c::reported_text = text == nullptr ? "" : text;
  } catch (const std::bad_alloc&) {
    c::reported_text.clear();
  }
}

fairlead_status fairlead_codelet_create(const char* name, fairlead_body body, fairlead_release release,
                                        void* context, const fairlead_access* modes, size_t mode_count,
                                        int32_t repeat_last, fairlead_codelet** codelet) {
  return c::status_of([&] {
    c::required(codelet, "codelet");
    if (body == nullptr) throw UsageError("body is a null pointer");
    if (mode_count == 0) throw UsageError("a codelet has at least one datum");
    c::required(modes, "modes");
    *codelet = new c::FunctionCodelet(
        {c::required(name, "name"), body, release, context, {modes, modes + mode_count}}, repeat_last != 0);
  });
}

void fairlead_codelet_free(fairlead_codelet* codelet) { delete codelet; }
