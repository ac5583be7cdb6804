// The number of threads that a loaded BLAS uses for each call.
#pragma once
#include <cstdint>
#include <functional>
#include <vector>

#include "base/shared_library.hpp"

namespace fairlead::linalg {

class LibraryThreads {
 public:
  /// One library may be built on another: the setters of all that are present are called.
  void add(const SharedLibrary& library) {
    for (const char* function :
         {"openblas_set_num_threads", "MKL_Set_Num_Threads", "flexiblas_set_num_threads",
          "armpl_set_num_threads", "nvpl_blas_set_num_threads"})
      if (const auto set = library.find<void(int)>(function)) setters_.emplace_back(set);
    if (const auto blis = library.find<void(std::int64_t)>("bli_thread_set_num_threads"))
      setters_.emplace_back([blis](int count) { blis(count); });
  }
  /// For the whole process.
  void set(int count) const {
    for (const auto& set : setters_) set(count);
  }

  /// Calls use up to this number of threads as long as the object exists, and one afterwards: for a few calls that no tasks
  /// accompany.
  class Several {
   public:
    Several(const LibraryThreads& threads, int count) : threads_(count > 1 ? &threads : nullptr) {
      if (threads_ != nullptr) threads_->set(count);
    }
    ~Several() {
      if (threads_ != nullptr) threads_->set(1);
    }
    Several(const Several&) = delete;
    Several& operator=(const Several&) = delete;

   private:
    const LibraryThreads* threads_;
  };

 private:
  std::vector<std::function<void(int)>> setters_;
};

}  // namespace fairlead::linalg
