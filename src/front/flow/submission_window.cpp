// Waits when too many submitted tasks are unfinished. See submission_window.hpp.
#include "front/flow/submission_window.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace fairlead::front {

namespace {
/// Descriptors and epochs of this many tasks stay in a core's caches.
constexpr std::uint64_t near_with_one_worker = 256;
}  // namespace

SubmissionWindow::SubmissionWindow(engine::RuntimeCore& core)
    : core_(core),
      near_(core.topology().workers.size() == 1 && near_with_one_worker < core.window() ? near_with_one_worker
                                                                                        : 0) {}

bool SubmissionWindow::check(engine::CountedSource& source) {
  bool waited = false;
  if (full(source)) {
    core_.engine().horizon_closed();
    // This task is already submitted. If the window cannot be drained, the next submission throws.
    held_up_ = !wait_until_half_done(source);
    waited = true;
  } else if (near_ != 0 && source.submitted() - source.done() >= near_ && everything_fits()) {
    const std::uint64_t enough = source.submitted() - near_ / 2;
    core_.work_off([&] { return source.done() >= enough; });
    waited = true;
  }
  next_look_ = source.done() + core_.window();
  // If no task was runnable, look again soon: tasks may be ready then.
  if (near_ != 0)
    next_look_ = std::min(next_look_, std::max(source.done() + near_, source.submitted() + near_ / 4));
  return waited;
}

/// No eviction is needed, so no policy needs to plan far ahead.
bool SubmissionWindow::everything_fits() {
  const NodeId host = core_.engine().view().host();
  return core_.engine().locked([host](memory::Memory& memory) { return memory.fast_path().all_fit(host); });
}

void SubmissionWindow::throw_held_up(const engine::CountedSource& source) const {
  core_.throw_deadlock(
      fmt::format("submit: {} tasks are unfinished, and the window allows no more; waiting for them",
                  source.submitted() - source.done())
          .c_str());
}

}  // namespace fairlead::front
