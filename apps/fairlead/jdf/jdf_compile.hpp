// fairlead jdf compile FILE -o FILE.cpp: readable C++, a header, and C in the same folder.
#pragma once
#include <string>

namespace fairlead::app {

/// Writes `output`, and a header and a C file to its folder. Returns the exit status; throws InputError,
/// SystemError.
int compile_jdf(const std::string& path, const std::string& output, bool warnings);

}  // namespace fairlead::app
