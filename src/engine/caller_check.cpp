// The checks of the calling thread, and their error messages.
#include "engine/caller_check.hpp"

#include <fairlead/error.hpp>

#include <string>

namespace fairlead::engine {

void CallerCheck::check_process(const char* what) const {
  if (!same_process())
    throw UsageError(std::string(what) +
                     " was called in a forked process; a runtime belongs to the process that created it");
}

bool CallerCheck::may_wait() const noexcept {
  return same_process() && std::this_thread::get_id() == owner_ && !in_bodies_ && !callbacks_.running_here();
}

void CallerCheck::refuse(const char* what) const {
  check_process(what);
  const auto say = [&](const char* why) { throw UsageError(std::string(what) + why); };
  if (closed_.load()) say(" was called after its runtime was destroyed");
  if (callbacks_.running_here())
    say(" was called inside a callback, which must not wait or submit: it runs between tasks");
  if (std::this_thread::get_id() != owner_)
    say(" was called by another thread than the one that created the runtime: a task's body, or a thread "
        "of the program");
  throw UsageError(std::string(what) + " was called inside a task's body, where it would wait for itself");
}

}  // namespace fairlead::engine
