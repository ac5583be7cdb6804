// A program that is started beside this one, and what it prints: nothing of this process goes along, neither its files nor how
// it treats signals. By posix_spawn, as a fork without exec is not allowed in a process with threads.
#pragma once
#include <sys/types.h>

#include <string>
#include <vector>

#include "base/file_descriptor.hpp"

namespace fairlead {

struct ChildProgram {
  std::vector<std::string> arguments;                     ///< the first names the program
  const std::vector<std::string>* environment = nullptr;  ///< null: that of this process
  bool in_path = false;                                   ///< it is looked for where the shell looks
  bool with_errors = false;  ///< its standard error is read as well; else it goes nowhere
  bool own_group = false;    ///< it and whom it starts can be ended together
};

struct StartedChild {
  pid_t id = 0;           ///< 0: it could not be started
  int error = 0;          ///< then: why
  FileDescriptor output;  ///< to read from
};

/// Whoever calls it waits for the process. Throws SystemError if there is no pipe.
StartedChild start_child(const ChildProgram& program);

}  // namespace fairlead
