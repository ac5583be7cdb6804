// What the tasks of a flow change apart from data, as a part of checkpoints.
#pragma once
#include <functional>
#include <string>

namespace fairlead {

/// A state that is not in data, such as a counter in the program's memory. Both functions may be empty.
struct CheckpointedState {
  std::function<std::string()> save;                ///< called for each checkpoint, while no task runs
  std::function<void(const std::string&)> restore;  ///< called with the saved text by a run that is resumed
};

}  // namespace fairlead
