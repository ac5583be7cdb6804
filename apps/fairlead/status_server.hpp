// Answers `fairlead status PID`: who asks is told what the run does now. By a socket that has no name in the
// file system, so that nothing is left behind however the run ends.
#pragma once
#include <sys/types.h>

#include <functional>
#include <string>
#include <thread>

#include "base/file_descriptor.hpp"

namespace fairlead::app {

class StatusServer {
 public:
  /// `status` is called by a thread of the server's. Where the system refuses a socket nobody is answered: a
  /// run does not fail for that.
  explicit StatusServer(std::function<std::string()> status);
  StatusServer(const StatusServer&) = delete;
  StatusServer& operator=(const StatusServer&) = delete;
  ~StatusServer();

 private:
  void serve();

  std::function<std::string()> status_;
  FileDescriptor socket_, end_;
  std::thread thread_;
};

/// What a run of the same user, or of anybody if asked by root, says. Throws Error if none answers.
std::string status_of(pid_t process);

}  // namespace fairlead::app
