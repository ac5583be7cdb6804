// Starts child processes by posix_spawn().
#include "base/child_process.hpp"

#include <fairlead/error.hpp>

#include <fcntl.h>
#include <fmt/format.h>
#include <spawn.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstring>
#include <utility>

namespace fairlead {

namespace {

/// The null-terminated array that posix_spawn() expects. It takes char* but does not change the texts.
std::vector<char*> pointers_to(const std::vector<std::string>& texts) {
  std::vector<char*> list;
  for (const std::string& text : texts) list.push_back(const_cast<char*>(text.c_str()));
  list.push_back(nullptr);
  return list;
}

}  // namespace

StartedChild start_child(const ChildProgram& program) {
  auto [output, input] = open_pipe();
  if (!input) throw SystemError(fmt::format("cannot make a pipe: {}", std::strerror(errno)));
  posix_spawn_file_actions_t files;
  posix_spawnattr_t attributes;
  ::posix_spawn_file_actions_init(&files);
  ::posix_spawnattr_init(&attributes);
  ::posix_spawn_file_actions_addopen(&files, 0, "/dev/null", O_RDONLY, 0);
  ::posix_spawn_file_actions_adddup2(&files, input.get(), 1);
  if (program.with_errors)
    ::posix_spawn_file_actions_adddup2(&files, input.get(), 2);
  else
    ::posix_spawn_file_actions_addopen(&files, 2, "/dev/null", O_WRONLY, 0);
  ::posix_spawn_file_actions_addclosefrom_np(&files, 3);
  sigset_t none, all;
  ::sigemptyset(&none);
  ::sigfillset(&all);
  ::posix_spawnattr_setsigmask(&attributes, &none);
  ::posix_spawnattr_setsigdefault(&attributes, &all);
  ::posix_spawnattr_setpgroup(&attributes, 0);
  const int flags =
      POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | (program.own_group ? POSIX_SPAWN_SETPGROUP : 0);
  ::posix_spawnattr_setflags(&attributes, static_cast<short>(flags));
  const auto arguments = pointers_to(program.arguments);
  const auto variables =
      program.environment != nullptr ? pointers_to(*program.environment) : std::vector<char*>{};
  char* const* const environment = variables.empty() ? environ : variables.data();
  StartedChild child;
  child.error = (program.in_path ? ::posix_spawnp : ::posix_spawn)(
      &child.id, arguments[0], &files, &attributes, arguments.data(), environment);
  ::posix_spawn_file_actions_destroy(&files);
  ::posix_spawnattr_destroy(&attributes);
  if (child.error != 0) child.id = 0;
  child.output = std::move(output);
  return child;
}

}  // namespace fairlead
