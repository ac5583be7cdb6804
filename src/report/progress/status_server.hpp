// Answers requests for the current state of a run, as `fairlead status PID` sends them, over a socket that has no name in the
// file system, so that no file remains however the run ends. One server in a process.
#pragma once
#include <sys/types.h>

#include <functional>
#include <string>
#include <thread>

#include "base/file_descriptor.hpp"

namespace fairlead::report {

class StatusServer {
 public:
  /// `status` is called by a thread of the server. If the system refuses a socket, there is no server, and
  /// the run goes on.
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

/// The status of a run of the same user, or of any user for root. Throws Error if no run answers.
std::string status_of(pid_t process);

}  // namespace fairlead::report
