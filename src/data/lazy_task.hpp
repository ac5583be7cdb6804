// A task that is ready, as queues hold it: often it has no descriptor yet, and gets one when it is run. So a
// graph may have millions of ready tasks in the form that its front end keeps them in, and few descriptors.
#pragma once
#include <fairlead/codelet_info.hpp>
#include <fairlead/ids.hpp>
#include <fairlead/place_hint.hpp>

#include <cstdint>

namespace fairlead {

class TaskSource;

/// What tasks have in common. There as long as they are.
struct TaskFamily {
  TaskSource* source = nullptr;  ///< who made them, describes them and learns of their completion
  bool described = false;        ///< they are descriptors themselves
  bool urgent = false;           ///< they have a priority above 0; of descriptors it is their own that counts
  bool in_graph = false;         ///< graph::Graph orders them: their accesses' epochs know where data are
  std::uint16_t closure_at = 0;  ///< where a task's closure is, behind its LazyTask; 0: in its descriptor
};

/// The beginning of whatever a source keeps a task in.
struct LazyTask {
  const TaskFamily* family = nullptr;
};

/// Where in the user's program a task was submitted; for messages.
struct SubmitLine {
  const char* file = "";
  std::uint32_t line = 0;
  bool operator==(const SubmitLine&) const = default;
};

/// What a task asks for, besides its data.
struct TaskTraits {
  const CodeletInfo* codelet = nullptr;
  SubmitLine submitted_at{};
  Bytes scratch_bytes = 0;           ///< of memory that only this task uses
  std::int32_t priority = 0;         ///< higher first; a policy may look at it
  std::uint32_t nodes_excluded = 0;  ///< bit k: it cannot run on node k, or may not
  float work = 0;                    ///< what the codelet's formula says; 0: it has none
  std::uint16_t workers_wanted = 0;  ///< at once, on a core: so many, or all if there are fewer; 0: one
  PlaceHint place{};                 ///< where the program would have it; a policy may look at it

  bool operator==(const TaskTraits&) const = default;
};

}  // namespace fairlead
