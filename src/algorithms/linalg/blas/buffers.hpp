// OpenBLAS maps a large buffer for each concurrent call and keeps it for later calls. It crashes if it exceeds its
// maximum number of buffers, and retries forever if the system refuses a mapping. Therefore the buffers are allocated
// in advance, where a failure can be reported.
#pragma once
#include <cstddef>
#include <mutex>
#include <optional>
#include <string>

#include "base/shared_library.hpp"

namespace fairlead::linalg {

class Buffers {
 public:
  /// `version`: the library's description of itself. `path`: for messages.
  Buffers(const SharedLibrary& library, const std::string& version, std::string path);

  /// Allocates buffers so that `threads` threads can call concurrently. Thread-safe. Throws ConfigError if the library
  /// does not have enough buffers, SystemError if the system refuses the address space; both messages state the
  /// maximum.
  void reserve(std::size_t threads);

  /// The maximum number of buffers of the library; none if unknown. OpenBLAS has two for each thread that it was built
  /// for, and at least 50.
  static std::optional<std::size_t> max_buffers(const std::string& version);

  /// The largest default of OpenBLAS.
  static constexpr std::size_t bytes_of_each = std::size_t{128} << 20;

 private:
  const std::string path_;
  const std::optional<std::size_t> most_;
  void* (*const allocate_)(int);  // null: another library, or the limit is unknown
  void (*const free_)(void*);
  std::mutex mutex_;  // guards taken_
  std::size_t taken_ = 0;
};

}  // namespace fairlead::linalg
