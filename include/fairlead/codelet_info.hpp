// A codelet with its types erased: what the engine knows of a kind of task.
#pragma once
#include <fairlead/access.hpp>
#include <fairlead/ids.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace fairlead {

struct Task;

/// What a body is given, before its typed parameters are made of it.
struct TaskContext {
  Task* task = nullptr;
  WorkerId worker = no_id<WorkerId>;
  void* runtime = nullptr;  ///< for completion tokens
};

struct CodeletInfo {
  std::string name;
  std::vector<AccessMode> modes;  ///< one per datum, in the order of the parameters
  std::uint32_t kinds = 1;        ///< bit k: there is an implementation for WorkerKind k
  bool asynchronous = false;      ///< a body ends when its Completion token says so, not when it returns
  /// Runs the body for the kind of the worker. May throw.
  void (*run)(const CodeletInfo&, TaskContext&) = nullptr;
  /// Destroys what the task's closure holds; null if that needs nothing.
  void (*destroy_closure)(void* closure) = nullptr;
  /// Floating-point operations of this task; null if unknown.
  double (*flops)(const CodeletInfo&, const Task&) = nullptr;
  std::shared_ptr<const void> bodies;  ///< the user's callables, of the type that `run` knows
};

}  // namespace fairlead
