// See submission_window.hpp.
#include "front/flow/submission_window.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace fairlead::front {

namespace {
/// Descriptors and epochs of so many stay in the caches of a core.
constexpr std::uint64_t near_with_one_worker = 256;
}  // namespace

SubmissionWindow::SubmissionWindow(engine::RuntimeCore& core)
    : core_(core),
      near_(core.topology().workers.size() == 1 && near_with_one_worker < core.window() ? near_with_one_worker
                                                                                        : 0) {}

bool SubmissionWindow::look(engine::CountedSource& source) {
  bool waited = false;
  if (full(source)) {
    core_.engine().horizon_closed();
    // If it cannot get emptier, the next submission is told so: this one is in.
    held_up_ = !wait_until_half_done(source);
    waited = true;
  } else if (near_ != 0 && source.submitted() - source.done() >= near_ && everything_fits()) {
    const std::uint64_t enough = source.submitted() - near_ / 2;
    core_.work_off([&] { return source.done() >= enough; });
    waited = true;
  }
  next_look_ = source.done() + core_.window();
  // If there was nothing to do, it is looked again when there may be.
  if (near_ != 0)
    next_look_ = std::min(next_look_, std::max(source.done() + near_, source.submitted() + near_ / 4));
  return waited;
}

/// Nothing has to leave, so no policy needs to see far ahead.
bool SubmissionWindow::everything_fits() {
  const NodeId host = core_.engine().view().host();
  return core_.engine().locked([host](memory::Memory& memory) { return memory.lane().all_fit(host); });
}

void SubmissionWindow::throw_held_up(const engine::CountedSource& source) const {
  core_.throw_held_up(
      fmt::format("submit: {} tasks are unfinished, and the window allows no more; waiting for them",
                  source.submitted() - source.done())
          .c_str());
}

}  // namespace fairlead::front
