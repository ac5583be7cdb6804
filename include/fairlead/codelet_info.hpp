// A codelet with its types erased: what the engine knows of a kind of task.
#pragma once
#include <fairlead/access.hpp>
#include <fairlead/detail/reduction_info.hpp>
#include <fairlead/ids.hpp>
#include <fairlead/team.hpp>
#include <fairlead/worker_kind.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace fairlead {

struct Task;
namespace engine {
class DrivenWorld;
}

/// What a body is given, before its typed parameters are made of it.
struct TaskContext {
  Task* task = nullptr;
  WorkerId worker = no_id<WorkerId>;
  engine::DrivenWorld* world = nullptr;  ///< for completion tokens, and where scratch is
  const Team* team = nullptr;            ///< of a task that spans several workers
  void* launcher = nullptr;              ///< of an accelerator's worker: what its bodies launch by
};

/// One body, for one kind of worker.
struct Implementation {
  /// Runs it. May throw.
  void (*run)(const void* body, TaskContext&) = nullptr;
  std::shared_ptr<const void> body{};  ///< the user's callable, of the type that `run` knows
  bool asynchronous = false;           ///< it ends when its Completion token says so, not when it returns
  std::string name{};                  ///< among those of its codelet for its kind of worker; may be empty
  std::uint64_t hash_of_name = 0;      ///< 0 if it has none. Put here by CodeletInfo::implement()
};
/// What a codelet's formula counts.
enum class WorkUnit : std::uint8_t { none, flops, nanoseconds };

/// In place of an implementation's number: none is chosen.
inline constexpr std::uint8_t no_implementation = 255;

struct CodeletInfo {
  /// For one kind of worker: each is tried for each footprint.
  static constexpr std::size_t most_implementations = 16;

  std::string name;
  std::vector<AccessMode> modes;                  ///< one per datum, in the order of the parameters
  std::vector<detail::ReductionInfo> reductions;  ///< likewise, if one of them is a reduction; else empty
  std::uint32_t kinds = 1;                        ///< bit k: there is an implementation for WorkerKind k
  std::uint32_t choices = 0;                      ///< bit k: there are several for it
  /// By WorkerKind: the one that was given first, and those after it.
  std::array<Implementation, worker_kind_count> implementations{};
  std::array<std::vector<Implementation>, worker_kind_count> further_implementations;
  /// Destroys what the task's closure holds; null if that needs nothing.
  void (*destroy_closure)(void* closure) = nullptr;
  std::uint32_t closure_bytes = 0;  ///< that a task's closure takes
  Workers workers = 1;              ///< that its body for cores needs at once
  WorkUnit unit = WorkUnit::none;
  /// The codelet's formula for one task; `handles` points to a tuple of pointers to what its call was given.
  /// Null if there is none. May throw.
  double (*work)(const CodeletInfo&, const void* handles) = nullptr;
  std::shared_ptr<const void> formula;  ///< the user's callable, of the type that `work` knows

  /// The only one for that kind of worker, or the first.
  const Implementation& for_kind(WorkerKind kind) const noexcept {
    return implementations[static_cast<std::size_t>(kind)];
  }
  /// There are several for it: the engine chooses.
  bool has_choice(WorkerKind kind) const noexcept {
    return ((choices >> static_cast<unsigned>(kind)) & 1u) != 0;
  }
  std::size_t count(WorkerKind kind) const noexcept {
    return ((kinds >> static_cast<unsigned>(kind)) & 1u) +
           further_implementations[static_cast<std::size_t>(kind)].size();
  }
  /// `number` (of Task::implementation) means something only where there is a choice.
  const Implementation& for_kind(WorkerKind kind, std::size_t number) const noexcept {
    if (!has_choice(kind)) [[likely]]
      return for_kind(kind);
    return number == 0 ? for_kind(kind) : further_implementations[static_cast<std::size_t>(kind)][number - 1];
  }
  /// One more. Throws UsageError if there is one of that name for that kind already.
  void implement(WorkerKind kind, Implementation implementation);
  /// The codelet's name, and where there is a choice that of the implementation: "gemm (blas)".
  std::string text(WorkerKind kind, std::size_t number) const;
  /// Of the name: by it durations are remembered, also from one run to the next. FNV-1a.
  std::uint64_t name_hash() const noexcept {
    if (hash_of_name != 0) return hash_of_name;
    std::uint64_t hash = 0xcbf2'9ce4'8422'2325u;
    for (const char letter : name) hash = (hash ^ static_cast<unsigned char>(letter)) * 0x100'0000'01b3u;
    return hash;
  }
  std::uint64_t hash_of_name = 0;  ///< name_hash() if somebody has put it here, else 0
};

}  // namespace fairlead
