// Type-erased calls: a typed call of a codelet reduces to a Submission.
#pragma once
#include <fairlead/access.hpp>
#include <fairlead/codelet_info.hpp>
#include <fairlead/place_hint.hpp>
#include <fairlead/team.hpp>

#include <cstdint>
#include <span>

namespace fairlead::engine {
struct RegisteredDatum;
}

namespace fairlead::detail {

/// One task to submit, on the caller's stack.
struct Submission {
  struct Use {
    engine::RegisteredDatum* datum;
    AccessMode mode;
    std::uint32_t generation = 0;  ///< the generation of the datum in the handle
  };
  const CodeletInfo* codelet = nullptr;
  std::span<const Use> uses;  ///< in the order of the codelet's parameters; a datum may appear twice
  int priority = 0;
  NodeId node = no_id<NodeId>;  ///< the only node where it may run; no_id: any node
  int device = no_device;       ///< a placement hint: see Call::on_device()
  int rank = -1;                ///< with several ranks: where it runs; below 0: the data determine the rank
  int like = -1;                ///< a placement hint: an index into `uses`; see Call::where()
  float work = 0;               ///< the result of the codelet's formula; 0: no formula
  Bytes scratch_bytes = 0;      ///< private memory of the task
  Workers workers = 1;          ///< needed at once if a CPU core runs it
  const char* file = "";        ///< source line of the submission
  std::uint32_t line = 0;
  /// Copies the body's other arguments into the task's closure. `access_of_use` maps each use to an access of the task:
  /// uses of the same datum are merged into one access. Null if there is nothing to copy.
  void (*fill_closure)(void* closure, const void* arguments, const std::uint8_t* access_of_use) = nullptr;
  const void* arguments = nullptr;
};

/// The location of a datum for a running task.
struct DatumLocation {
  void* address;
  bool packed;         ///< a packed copy without gaps between columns, not the user's memory
  bool fresh = false;  ///< a partial result that is not initialized: the first task that gets it must
                       ///< initialize it
};
/// Takes the place of an access index for a parameter without a datum, whose address is null.
inline constexpr std::uint8_t absent_access = 255;
DatumLocation location_of(const TaskContext& context, unsigned access) noexcept;
void* closure_of(const TaskContext& context) noexcept;
/// Returns the result of a formula as an amount of work. Throws UsageError if it is not a valid amount.
float checked_work(const CodeletInfo& codelet, double work);
/// Returns the index of a parameter among the data; `uses` maps parameters to data. Throws UsageError if the parameter
/// is not a datum.
int checked_where(const CodeletInfo& codelet, int parameter, std::span<const int> uses);
/// The bytes for arguments in a task's descriptor.
inline constexpr std::size_t closure_capacity = 64;

}  // namespace fairlead::detail
