// Programs in Python, whose libraries write and read files independently of the code under test.
#pragma once
#include <sys/wait.h>

#include <cstdlib>
#include <string>

#include "data/npy/files.hpp"

namespace fairlead::data::test {

/// Runs a program in the directory; its errors are in the file "error". False: it failed.
inline bool run_python(const Directory& directory, const std::string& program) {
  directory.file("script.py", program);
  const auto status =
      std::system(("cd '" + directory.path().string() + "' && /usr/bin/python3 script.py 2>error").c_str());
  return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

}  // namespace fairlead::data::test
