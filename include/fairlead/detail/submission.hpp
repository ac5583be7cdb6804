// Type-erased calls: a typed call of a codelet reduces to a Submission.
#pragma once
#include <fairlead/access.hpp>
#include <fairlead/codelet_info.hpp>
#include <fairlead/place_hint.hpp>
#include <fairlead/team.hpp>

#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>

namespace fairlead::engine {
struct RegisteredDatum;
}

namespace fairlead::detail {

/// The index of an access among those of a task.
using AccessIndex = std::uint16_t;
/// Takes the place of an access index for a parameter without a datum, whose address is null.
inline constexpr AccessIndex absent_access = 0xffff;
/// Tasks with a fixed number of parameters store indices in 8 bits.
constexpr std::uint8_t narrowed(AccessIndex access) noexcept { return static_cast<std::uint8_t>(access); }
constexpr AccessIndex widened(std::uint8_t access) noexcept {
  return access == 0xff ? absent_access : access;
}

/// One task to submit, on the caller's stack.
struct Submission {
  struct Use {
    engine::RegisteredDatum* datum;
    AccessMode mode;
    std::uint32_t generation = 0;  ///< the generation of the datum in the handle
  };
  static constexpr std::size_t no_lists = std::numeric_limits<std::size_t>::max();

  const CodeletInfo* codelet = nullptr;
  /// In the order of the codelet's parameters, data of lists last; a datum may appear twice.
  std::span<const Use> uses;
  std::size_t first_listed = no_lists;  ///< index in `uses`: the data from here on are elements of lists
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
  void (*fill_closure)(void* closure, const void* arguments, const AccessIndex* access_of_use) = nullptr;
  const void* arguments = nullptr;
};

/// The location of a datum for a running task.
struct DatumLocation {
  void* address;
  bool packed;         ///< a packed copy without gaps between columns, not the user's memory
  bool fresh = false;  ///< a partial result that is not initialized: the first task that gets it must
                       ///< initialize it
};
DatumLocation location_of(const TaskContext& context, unsigned access) noexcept;
void* closure_of(const TaskContext& context) noexcept;
/// Returns the result of a formula as an amount of work. Throws UsageError if it is not a valid amount.
float checked_work(const CodeletInfo& codelet, double work);
/// Returns the index of a parameter among the data; `uses` maps parameters to data. Throws UsageError if the parameter
/// is not a datum.
int checked_where(const CodeletInfo& codelet, int parameter, std::span<const int> uses);
/// Throws UsageError.
[[noreturn]] void throw_empty_list(const CodeletInfo& codelet);
/// The bytes for arguments in a task's descriptor.
inline constexpr std::size_t closure_capacity = 64;

}  // namespace fairlead::detail
