// Writes a message with one call and ignores errors.
#include "base/log.hpp"

#include <cstdio>
#include <functional>
#include <mutex>
#include <new>
#include <set>
#include <string>

#include "base/printable.hpp"

namespace fairlead {

void log_message(std::string_view text) noexcept {
  try {
    const std::string shown = printable(text);
    [[maybe_unused]] const auto written = std::fwrite(shown.data(), 1, shown.size(), stderr);
    std::fflush(stderr);
  } catch (const std::bad_alloc&) {
    // Out of memory: the message is lost.
  }
}

void log_once(std::string_view text) noexcept {
  static std::mutex mutex;
  static std::set<std::string, std::less<>> written;
  try {
    const std::lock_guard lock(mutex);
    if (!written.emplace(text).second) return;
  } catch (const std::bad_alloc&) {
    // Out of memory: the message may appear twice.
  }
  log_message(text);
}

}  // namespace fairlead
