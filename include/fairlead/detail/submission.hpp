// What a typed call of a codelet is reduced to before it goes into the library.
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

/// One task, on the submitter's stack.
struct Submission {
  struct Use {
    engine::RegisteredDatum* datum;
    AccessMode mode;
    std::uint32_t generation = 0;  ///< of the datum, as the handle has it
  };
  const CodeletInfo* codelet = nullptr;
  std::span<const Use> uses;  ///< in the order of the codelet's parameters; a datum may appear twice
  int priority = 0;
  NodeId node = no_id<NodeId>;  ///< it runs there only; none: anywhere
  int device = no_device;       ///< a wish: see Call::on_device()
  int rank = -1;                ///< over ranks: where it runs; below 0: where its data say
  int like = -1;                ///< a wish: which of `uses`; see Call::where()
  float work = 0;               ///< what the codelet's formula says; 0: there is none
  Bytes scratch_bytes = 0;      ///< of memory that only this task uses
  Workers workers = 1;          ///< that it needs at once where a core runs it
  const char* file = "";        ///< where the program submits it
  std::uint32_t line = 0;
  /// Puts the body's other arguments into the task's closure; `access_of_use` tells for each use which of the
  /// task's accesses it became (a datum that appears twice is one access). Null if there is nothing to put.
  void (*fill_closure)(void* closure, const void* arguments, const std::uint8_t* access_of_use) = nullptr;
  const void* arguments = nullptr;
};

/// Where a datum is for a running task.
struct Place {
  void* address;
  bool packed;         ///< a copy without gaps between columns, not the user's memory
  bool fresh = false;  ///< a partial result in which nothing is yet; whoever is told so first begins it
};
/// In place of an access, of a parameter that has no datum: its address is null.
inline constexpr std::uint8_t absent_access = 255;
Place place_of(const TaskContext& context, unsigned access) noexcept;
void* closure_of(const TaskContext& context) noexcept;
/// What a formula has said, if that is an amount of work. Throws UsageError if it is not.
float checked_work(const CodeletInfo& codelet, double work);
/// Which of the data the parameter is, as `uses` says of each. Throws UsageError if it is none.
int checked_where(const CodeletInfo& codelet, int parameter, std::span<const int> uses);
/// The bytes for arguments that a task's descriptor has room for.
inline constexpr std::size_t closure_capacity = 64;

}  // namespace fairlead::detail
