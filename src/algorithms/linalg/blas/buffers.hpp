// OpenBLAS takes a buffer of many addresses for each call under way, and keeps it for later calls. If it has
// no more of them it crashes, and if the system refuses one it asks again for ever. So they are taken
// beforehand, where that can still be an error.
#pragma once
#include <cstddef>
#include <mutex>
#include <optional>
#include <string>

#include "base/shared_library.hpp"

namespace fairlead::linalg {

class Buffers {
 public:
  /// `version`: as the library describes itself. `path`: for messages.
  Buffers(const SharedLibrary& library, const std::string& version, std::string path);

  /// From then on so many threads can call at once. Any thread. Throws ConfigError if the library has not so
  /// many buffers, SystemError if the system does not give the addresses: both say how many there can be.
  void take(std::size_t threads);

  /// How many the library has; none if it is not known to have a limit. OpenBLAS has two for each thread that
  /// it was built for, and at least 50.
  static std::optional<std::size_t> most_of(const std::string& version);

  /// What OpenBLAS is built with by default where it is largest.
  static constexpr std::size_t bytes_of_each = std::size_t{128} << 20;

 private:
  const std::string path_;
  const std::optional<std::size_t> most_;
  void* (*const allocate_)(int);  // null: another library, or nothing is known
  void (*const free_)(void*);
  std::mutex mutex_;  // guards taken_
  std::size_t taken_ = 0;
};

}  // namespace fairlead::linalg
