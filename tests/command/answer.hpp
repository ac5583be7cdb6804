// The program `fairlead`, and what it answers.
#pragma once
#include <string>

#include "command/program.hpp"

namespace fairlead {

/// An environment in which the kernels are timed by the first that asks, and nothing else is remembered.
inline const std::string kernels_kept =
    "FAIRLEAD_KEEP_DURATIONS=false FAIRLEAD_CACHE_DIRECTORY='" FAIRLEAD_TEST_CACHE "'";

inline Answer fairlead_command(const std::string& arguments, const std::string& environment = "") {
  return answer_of(FAIRLEAD_COMMAND, arguments, environment);
}

}  // namespace fairlead
