// One loop for the four functions.
#include "base/full_transfer.hpp"

#include <sys/types.h>
#include <unistd.h>

#include <cerrno>

#include "base/interruptions.hpp"

namespace fairlead {

namespace {

/// once(done): one system call for the rest after `done` bytes.
template <class Once>
FullTransferResult all_of(std::size_t bytes, const Once& once) noexcept {
  FullTransferResult done;
  Interruptions interruptions;
  while (done.bytes < bytes) {
    const ssize_t count = once(done.bytes);
    if (count == 0) break;
    if (count > 0) {
      done.bytes += static_cast<std::size_t>(count);
      interruptions.end();
    } else if (!interruptions.retry()) {
      done.error = errno;
      break;
    }
  }
  return done;
}

}  // namespace

FullTransferResult read_fully(int descriptor, std::span<std::byte> into) noexcept {
  return all_of(into.size(),
                [&](std::size_t done) { return ::read(descriptor, into.data() + done, into.size() - done); });
}

FullTransferResult read_fully_at(int descriptor, std::uint64_t offset, std::span<std::byte> into) noexcept {
  return all_of(into.size(), [&](std::size_t done) {
    return ::pread(descriptor, into.data() + done, into.size() - done, static_cast<off_t>(offset + done));
  });
}

FullTransferResult write_fully(int descriptor, std::span<const std::byte> content) noexcept {
  return all_of(content.size(), [&](std::size_t done) {
    return ::write(descriptor, content.data() + done, content.size() - done);
  });
}

FullTransferResult write_fully_at(int descriptor, std::uint64_t offset,
                                  std::span<const std::byte> content) noexcept {
  return all_of(content.size(), [&](std::size_t done) {
    return ::pwrite(descriptor, content.data() + done, content.size() - done,
                    static_cast<off_t>(offset + done));
  });
}

}  // namespace fairlead
