// Six small programs that use all of the library, each in a few hundred allocations.
#pragma once
#include <functional>
#include <span>

namespace fairlead::allocation {

struct SmallProgram {
  const char* name;
  /// True if its results are right; throws the library's errors. Calls `started` when its runtime exists.
  bool (*run)(const std::function<void()>& started);
};

std::span<const SmallProgram> small_programs();

}  // namespace fairlead::allocation
