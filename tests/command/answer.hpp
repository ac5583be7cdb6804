// Runs the program `fairlead` and returns its output.
#pragma once
#include <string>

#include "command/program.hpp"

namespace fairlead {

/// An environment with a cache of kernel timings and of nothing else. Without a search for leaks, which at
/// times crashes on libraries that were loaded for timing and unloaded.
inline const std::string kernels_kept =
    "ASAN_OPTIONS=detect_leaks=0 FAIRLEAD_KEEP_DURATIONS=false FAIRLEAD_CACHE_DIRECTORY='" FAIRLEAD_TEST_CACHE
    "'";

inline Answer fairlead_command(const std::string& arguments, const std::string& environment = "") {
  return answer_of(FAIRLEAD_COMMAND, arguments, environment);
}

}  // namespace fairlead
