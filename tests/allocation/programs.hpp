// Six small programs that use all of the library, each in a few hundred allocations.
#pragma once
#include <span>
#include <string>

namespace fairlead::allocation {

struct SmallProgram {
  const char* name;
  bool (*run)();  ///< whether its results are right; throws what the library throws
};

std::span<const SmallProgram> small_programs();

}  // namespace fairlead::allocation
