// What was recorded of a run, with the names of everything in it.
#pragma once
#include <fairlead/ids.hpp>

#include <functional>
#include <string>

#include "trace/snapshot.hpp"

namespace fairlead::engine {

class Engine;

/// Empty but for names if nothing is recorded. Only while no task runs. `name_of` names a datum ("A[3,1]"),
/// under the engine's lock; without it they are numbered.
trace::Snapshot trace_snapshot(Engine& engine, const std::function<std::string(DatumId)>& name_of);

}  // namespace fairlead::engine
