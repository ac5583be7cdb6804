// Starts a program as a child process and reads its output. The child inherits neither files nor signal dispositions.
// Uses posix_spawn, since fork without exec is unsafe in a process with threads.
#pragma once
#include <sys/types.h>

#include <string>
#include <vector>

#include "base/file_descriptor.hpp"

namespace fairlead {

struct ChildProgram {
  std::vector<std::string> arguments;                     ///< the first is the program
  const std::vector<std::string>* environment = nullptr;  ///< null: the environment of this process
  bool in_path = false;                                   ///< search the program in PATH
  bool with_errors = false;  ///< standard error goes to `output` too, otherwise to /dev/null
  bool own_group = false;    ///< the child leads its own process group, so that it and its children can be
                             ///< killed together
};

struct StartedChild {
  pid_t id = 0;           ///< 0: it could not be started
  int error = 0;          ///< the errno if `id` is 0
  FileDescriptor output;  ///< the read end of the child's output
};

/// The caller must wait for the process. Throws SystemError if no pipe can be made.
StartedChild start_child(const ChildProgram& program);

}  // namespace fairlead
