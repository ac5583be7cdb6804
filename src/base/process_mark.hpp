// Tells whether this is still the process that made the mark, or one forked from it: without asking the
// system each time, because what asks is on the path of every task.
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
  // holds 1; the kernel wipes it in a child. Null: not available, so ask for the id
  volatile int* page_ = nullptr;
  int process_;
};

}  // namespace fairlead
