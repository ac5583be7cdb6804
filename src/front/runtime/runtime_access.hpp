// The parts of a runtime that its public header does not name: for the library, the command and tests.
#pragma once
#include <fairlead/runtime.hpp>

#include "engine/runtime_core.hpp"
#include "engine/trace_snapshot.hpp"
#include "net/communicator.hpp"

namespace fairlead::front {

engine::RuntimeCore& core_of(Runtime& runtime) noexcept;
/// Null: there are no other ranks.
net::Communicator* communicator_of(Runtime& runtime) noexcept;
/// The recording so far, if the setting `trace` or `report` enables it. No flow may have unfinished tasks.
trace::Snapshot recorded_by(Runtime& runtime);

}  // namespace fairlead::front
