// Access to the parts of a runtime that its public header does not name.
#include "front/runtime/runtime_access.hpp"

#include "front/runtime/implementation.hpp"

namespace fairlead {

struct detail::RuntimeAccess {
  static Runtime::Implementation& of(Runtime& runtime) noexcept { return *runtime.implementation_; }
};

engine::RuntimeCore& front::core_of(Runtime& runtime) noexcept {
  return detail::RuntimeAccess::of(runtime).core;
}
net::Communicator* front::communicator_of(Runtime& runtime) noexcept {
  RankContext* const ranks = rank_context(core_of(runtime).surroundings());
  return !ranks ? nullptr : &ranks->communicator();
}
trace::Snapshot front::recorded_by(Runtime& runtime) {
  engine::RuntimeCore& core = core_of(runtime);
  core.caller().check("recorded");
  trace::Snapshot snapshot = detail::RuntimeAccess::of(runtime).recorded();
  if (const RankContext* const ranks = rank_context(core.surroundings())) ranks->values().add_to(snapshot);
  return snapshot;
}

}  // namespace fairlead
