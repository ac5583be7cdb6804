// The trace of a run together with the names of everything in it.
#pragma once
#include <fairlead/ids.hpp>

#include <functional>
#include <string>

#include "trace/snapshot.hpp"

namespace fairlead::engine {

class Engine;

/// Contains only names if recording is disabled. Call it only while no task runs. `name_of` names a datum ("A[3,1]"),
/// under the engine's lock; without it data are numbered.
trace::Snapshot trace_snapshot(Engine& engine, const std::function<std::string(DatumId)>& name_of);

}  // namespace fairlead::engine
