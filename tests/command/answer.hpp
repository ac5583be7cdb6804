// The program `fairlead`, and what it answers.
#pragma once
#include <string>

#include "command/program.hpp"

namespace fairlead {

/// An environment in which the kernels are timed by the first that asks, and nothing else is remembered. Leaks are not
/// looked for there: libraries that were loaded to be asked, and are gone, at times end the search itself.
inline const std::string kernels_kept =
    "ASAN_OPTIONS=detect_leaks=0 FAIRLEAD_KEEP_DURATIONS=false FAIRLEAD_CACHE_DIRECTORY='" FAIRLEAD_TEST_CACHE
    "'";

inline Answer fairlead_command(const std::string& arguments, const std::string& environment = "") {
  return answer_of(FAIRLEAD_COMMAND, arguments, environment);
}

}  // namespace fairlead
