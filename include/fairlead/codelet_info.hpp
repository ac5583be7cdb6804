// A type-erased codelet, as the engine uses it.
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
class RunnableWorld;
}

/// What a body gets; its typed parameters are made from this.
struct TaskContext {
  Task* task = nullptr;
  WorkerId worker = no_id<WorkerId>;
  engine::RunnableWorld* world = nullptr;  ///< for completion tokens and scratch memory
  const Team* team = nullptr;              ///< of a task that needs several workers; null otherwise
  void* launcher = nullptr;  ///< of an accelerator's worker: the object through which its bodies
                             ///< launch
};

/// One body for one kind of worker.
struct Implementation {
  /// Runs the body. May throw.
  void (*run)(const void* body, TaskContext&) = nullptr;
  std::shared_ptr<const void> body{};  ///< the user's callable, of the type that `run` expects
  bool asynchronous = false;           ///< the task finishes when its Completion is signalled, not when the
                                       ///< body returns
  std::string name{};                  ///< unique among the codelet's bodies for this kind of worker; may be
                                       ///< empty
  std::uint64_t hash_of_name = 0;      ///< 0 if there is no name; set by CodeletInfo::implement()
};
/// The unit of a codelet's formula.
enum class WorkUnit : std::uint8_t { none, flops, nanoseconds };

/// The implementation number that means "none selected".
inline constexpr std::uint8_t no_implementation = 255;

struct CodeletInfo {
  /// The limit for one kind of worker: each implementation is tried for each footprint.
  static constexpr std::size_t most_implementations = 16;

  std::string name;
  std::vector<AccessMode> modes;                  ///< one per parameter that is one datum, in order
  std::vector<detail::ReductionInfo> reductions;  ///< one per datum, if one of them is a reduction; otherwise
                                                  ///< empty
  std::uint32_t kinds = 1;                        ///< bit k: there is an implementation for WorkerKind k
  std::uint32_t choices = 0;                      ///< bit k: there are several implementations for WorkerKind
                                                  ///< k
  /// By WorkerKind: the first implementation, and the others.
  std::array<Implementation, worker_kind_count> implementations{};
  std::array<std::vector<Implementation>, worker_kind_count> further_implementations;
  /// Destroys the content of the task's closure; null if it is trivially destructible.
  void (*destroy_closure)(void* closure) = nullptr;
  std::uint32_t closure_bytes = 0;  ///< the size of a task's closure
  Workers workers = 1;              ///< needed at once by its body for CPU cores
  WorkUnit unit = WorkUnit::none;
  /// Evaluates the codelet's formula for one task; null if there is none. `handles` points to a tuple of pointers to
  /// the arguments of the call. May throw.
  double (*work)(const CodeletInfo&, const void* handles) = nullptr;
  std::shared_ptr<const void> formula;  ///< the user's callable, of the type that `work` expects

  /// The first, or only, implementation for this kind of worker.
  const Implementation& for_kind(WorkerKind kind) const noexcept {
    return implementations[static_cast<std::size_t>(kind)];
  }
  /// True if there are several implementations, from which the engine selects.
  bool has_choice(WorkerKind kind) const noexcept {
    return ((choices >> static_cast<unsigned>(kind)) & 1u) != 0;
  }
  std::size_t count(WorkerKind kind) const noexcept {
    return ((kinds >> static_cast<unsigned>(kind)) & 1u) +
           further_implementations[static_cast<std::size_t>(kind)].size();
  }
  /// `number` is Task::implementation; it is ignored if there is only one implementation.
  const Implementation& for_kind(WorkerKind kind, std::size_t number) const noexcept {
    if (!has_choice(kind)) [[likely]]
      return for_kind(kind);
    return number == 0 ? for_kind(kind) : further_implementations[static_cast<std::size_t>(kind)][number - 1];
  }
  /// Adds an implementation. Throws UsageError if one of this name exists for this kind of worker.
  void implement(WorkerKind kind, Implementation implementation);
  /// The codelet's name, with the implementation's name if there are several: "gemm (blas)".
  std::string text(WorkerKind kind, std::size_t number) const;
  /// The FNV-1a hash of the name. Durations are stored under it, also between runs.
  std::uint64_t name_hash() const noexcept {
    if (hash_of_name != 0) return hash_of_name;
    std::uint64_t hash = 0xcbf2'9ce4'8422'2325u;
    for (const char letter : name) hash = (hash ^ static_cast<unsigned char>(letter)) * 0x100'0000'01b3u;
    return hash;
  }
  std::uint64_t hash_of_name = 0;  ///< name_hash(), cached; 0 if not computed
};

}  // namespace fairlead
