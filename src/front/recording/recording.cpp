// Implements the public Recording on RecordingSource.
#include <fairlead/recording.hpp>

#include <utility>

#include "front/recording/recording_source.hpp"
#include "front/runtime/runtime_access.hpp"

namespace fairlead {

class Recording::Implementation {
 public:
  Implementation(std::shared_ptr<void> r, engine::RuntimeCore& c)
      : runtime(std::move(r)), core(c), source(core) {}

  std::shared_ptr<void> runtime;  // keeps the runtime alive as long as the recording
  engine::RuntimeCore& core;
  front::RecordingSource source;
};

Recording::Recording(Runtime& runtime)
    : implementation_(std::make_shared<Implementation>(runtime.implementation_, front::core_of(runtime))) {}

Recording::~Recording() {
  if (implementation_ == nullptr) return;
  engine::RuntimeCore& core = implementation_->core;
  // The engine may not have processed all completions yet.
  if (core.caller().may_wait() && implementation_->source.finish())
    core.application().serve_blocking();
  else
    core.keep(std::move(implementation_));
}

void Recording::insert(const detail::Submission& submission,
                       const std::shared_ptr<const CodeletInfo>& codelet) {
  implementation_->source.record(submission, codelet);
}
void Recording::run() {
  implementation_->core.stop_on_out_of_memory([this] { implementation_->source.run(); });
}
void Recording::cancel() { implementation_->source.cancel(); }
std::size_t Recording::tasks() const noexcept { return implementation_->source.tasks(); }

}  // namespace fairlead
