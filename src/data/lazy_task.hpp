// A ready task as queues hold it. Often it has no descriptor yet and gets one when it runs. So a graph can have
// millions of ready tasks in the front end's compact form, and few descriptors.
#pragma once
#include <fairlead/codelet_info.hpp>
#include <fairlead/ids.hpp>
#include <fairlead/place_hint.hpp>

#include <cstdint>

namespace fairlead {

class TaskSource;

/// The common properties of a source's tasks; outlives them.
struct TaskFamily {
  TaskSource* source = nullptr;  ///< creates and describes the tasks, and is notified of their completion
  bool described = false;        ///< the tasks are descriptors themselves
  bool urgent = false;           ///< the tasks have a priority above 0; a descriptor's own priority takes
                                 ///< precedence
  bool in_graph = false;  ///< ordered by DependencyGraph: the epochs of their accesses record where the
                          ///< data are
  std::uint32_t closure_at = 0;  ///< offset of a task's closure from its LazyTask; 0: the closure is in its
                                 ///< descriptor
};

/// The base of a source's representation of a task.
struct LazyTask {
  const TaskFamily* family = nullptr;
};

/// Where the user's program submitted a task; for messages.
struct SubmitLine {
  const char* file = "";
  std::uint32_t line = 0;
  bool operator==(const SubmitLine&) const = default;
};

/// The requirements of a task other than its data.
struct TaskTraits {
  const CodeletInfo* codelet = nullptr;
  SubmitLine submitted_at{};
  Bytes scratch_bytes = 0;           ///< scratch memory of this task
  std::int32_t priority = 0;         ///< higher first; policies may use it
  std::uint32_t nodes_excluded = 0;  ///< bit k: it cannot or may not run on node k
  float work = 0;                    ///< result of the codelet's formula for the amount of work; 0: none
  std::uint16_t workers_wanted = 0;  ///< cores that it needs at once, at most all; 0: one
  PlaceHint place{};                 ///< where the program prefers to run it; policies may use it

  bool operator==(const TaskTraits&) const = default;
};

}  // namespace fairlead
