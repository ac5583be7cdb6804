// Starts a program and takes what it answers.
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

/// `arguments` as the shell reads them; the environment is empty but for `environment`.
inline Answer answer_of(const std::string& program, const std::string& arguments,
                        const std::string& environment = "") {
  const std::string line = "exec 2>&1; env -i " + environment + " '" + program + "' " + arguments;
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
