// A limit on the size of files (ulimit -f), as where the disk is full: of this process, as long as it lasts.
#pragma once
#include <sys/resource.h>

#include <csignal>
#include <stdexcept>

namespace fairlead::tests {

class FilesMayNotGrow {
 public:
  explicit FilesMayNotGrow(rlim_t beyond_bytes) : handler_(std::signal(SIGXFSZ, SIG_IGN)) {
    if (getrlimit(RLIMIT_FSIZE, &before_) != 0) throw std::runtime_error("getrlimit");
    const rlimit limit{beyond_bytes, before_.rlim_max};
    if (setrlimit(RLIMIT_FSIZE, &limit) != 0) throw std::runtime_error("setrlimit");
  }
  ~FilesMayNotGrow() {
    setrlimit(RLIMIT_FSIZE, &before_);
    std::signal(SIGXFSZ, handler_);
  }
  FilesMayNotGrow(const FilesMayNotGrow&) = delete;
  FilesMayNotGrow& operator=(const FilesMayNotGrow&) = delete;

 private:
  void (*const handler_)(int);
  rlimit before_{};
};

}  // namespace fairlead::tests
