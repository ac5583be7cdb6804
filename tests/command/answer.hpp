// Starts the program `fairlead` and takes what it answers.
#pragma once
#include <sys/wait.h>

#include <cstdio>
#include <stdexcept>
#include <string>

namespace fairlead {

struct Answer {
  int exit_code;
  std::string text;  // what goes to the standard output and to that for errors, as it comes
};

/// An environment in which the kernels are timed by the first that asks, and nothing else is remembered.
inline const std::string kernels_kept =
    "FAIRLEAD_KEEP_DURATIONS=false FAIRLEAD_CACHE_DIRECTORY='" FAIRLEAD_TEST_CACHE "'";

/// `arguments` as the shell reads them; the environment is empty but for `environment`.
inline Answer fairlead_command(const std::string& arguments, const std::string& environment = "") {
  const std::string line = "exec 2>&1; env -i " + environment + " '" + FAIRLEAD_COMMAND + "' " + arguments;
  FILE* pipe = popen(line.c_str(), "r");
  if (pipe == nullptr) throw std::runtime_error("no shell");
  Answer answer{};
  char buffer[4096];
  while (const std::size_t count = fread(buffer, 1, sizeof buffer, pipe)) answer.text.append(buffer, count);
  const int status = pclose(pipe);
  answer.exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  return answer;
}

}  // namespace fairlead
