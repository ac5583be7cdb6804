// fairlead jdf compile FILE -o FILE.cpp: readable C++, a header, and C beside it.
#pragma once
#include <string>

namespace fairlead::app {

/// Writes `output`, and a header and a C file beside it. Returns the exit status; throws InputError, SystemError.
int compile_jdf(const std::string& path, const std::string& output, bool warnings);

}  // namespace fairlead::app
