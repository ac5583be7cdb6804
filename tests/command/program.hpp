// Starts a program and returns its output.
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

#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define FAIRLEAD_TESTS_LEAKS
#endif
#endif
#if defined(__SANITIZE_ADDRESS__) || defined(FAIRLEAD_TESTS_LEAKS)
// Libraries that hwloc's plug-ins and OpenCL's drivers load and unload crash the leak check of the whole
// process.
inline const std::string of_sanitizers = "HWLOC_PLUGINS_PATH=/var/empty OCL_ICD_VENDORS=/var/empty ";
#else
inline const std::string of_sanitizers;
#endif

/// `arguments` as the shell reads them; the environment is only `environment`.
inline Answer answer_of(const std::string& program, const std::string& arguments,
                        const std::string& environment = "") {
  const std::string line =
      "exec 2>&1; env -i " + of_sanitizers + environment + " '" + program + "' " + arguments;
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
