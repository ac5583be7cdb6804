// Implements the public Hold on the engine's record of a hold, and Flow::acquire() and acquire_then().
#include <fairlead/hold.hpp>

#include <fairlead/error.hpp>
#include <fairlead/flow.hpp>

#include <utility>
#include <vector>

#include "front/flow/flow_implementation.hpp"

namespace fairlead {

/// Keeps the runtime alive, because its memory holds the data.
struct detail::HoldState {
  std::shared_ptr<void> runtime;
  engine::RuntimeCore& core;
  std::shared_ptr<engine::OpenHold> record{};
  std::vector<AccessIndex> access_of_use{};
};

namespace detail {

AnyHold::operator bool() const noexcept {
  return state_ != nullptr && state_->record->state.load() == engine::OpenHold::State::granted;
}

void AnyHold::release() noexcept {
  if (state_ == nullptr) return;
  const bool refused = state_->record->state.load() == engine::OpenHold::State::refused;
  state_->core.holds().release(*state_->record);
  if (!refused) return;
  state_ = nullptr;
}

DatumLocation AnyHold::location(std::size_t use) const {
  using State = engine::OpenHold::State;
  if (state_ == nullptr) throw UsageError("an empty hold is used");
  const engine::OpenHold& record = *state_->record;
  switch (record.state.load()) {
    case State::granted:
      return record.locations[state_->access_of_use[use]];
    case State::refused:
      front::FlowSource::throw_refused(record);
    default:
      throw UsageError(std::string("a hold is used after its release: acquired at ") + record.file + ":" +
                       std::to_string(record.line));
  }
}

}  // namespace detail

namespace {
detail::Submission submission_of(std::span<const detail::Submission::Use> uses, SourceLine where) {
  detail::Submission submission;
  submission.uses = uses;
  submission.file = where.file_name();
  submission.line = where.line();
  return submission;
}
}  // namespace

std::shared_ptr<detail::HoldState> Flow::acquire_uses(std::span<const detail::Submission::Use> uses,
                                                      SourceLine where) {
  auto& it = *implementation_;
  // Allocated first: once data are held, an allocation failure would leave a hold that the caller cannot release.
  auto state = std::make_shared<detail::HoldState>(detail::HoldState{it.runtime, it.core, {}, {}});
  state->record = it.source->acquire(submission_of(uses, where), state->access_of_use);
  return state;
}

void Flow::acquire_uses_then(std::span<const detail::Submission::Use> uses, SourceLine where,
                             std::function<void(std::shared_ptr<detail::HoldState>)> callback) {
  auto& it = *implementation_;
  auto state = std::make_shared<detail::HoldState>(detail::HoldState{nullptr, it.core, {}, {}});  // as above
  it.source->acquire_then(submission_of(uses, where), state->access_of_use,
                          [runtime = std::weak_ptr(it.runtime), callback = std::move(callback),
                           state](const std::shared_ptr<engine::OpenHold>& record) {
                            state->runtime = runtime.lock();
                            state->record = record;
                            // Null while the runtime is being destroyed: a hold can no longer keep it alive.
                            callback(state->runtime == nullptr ? nullptr : state);
                          });
}

}  // namespace fairlead
