// Distinguishes the process that made the mark from a child forked later. Usually needs no system call, since every
// task checks it.
#pragma once
#include <unistd.h>

namespace fairlead {

class ProcessMark {
 public:
  ProcessMark();
  ProcessMark(const ProcessMark&) = delete;
  ProcessMark& operator=(const ProcessMark&) = delete;
  ~ProcessMark();

  /// False in a forked child.
  bool same_process() const noexcept { return page_ != nullptr ? *page_ == 1 : getpid() == process_; }

 private:
  // holds 1; the kernel zeroes it in a child. Null: not available, so compare process ids
  volatile int* page_ = nullptr;
  int process_;
};

}  // namespace fairlead
