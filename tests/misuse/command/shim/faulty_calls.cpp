// Loaded before the C library (LD_PRELOAD): calls that go wrong as FAULTY_CALLS says, words with blanks
// between.
//   named         files without a name are not supported, as on some file systems
//   interrupted   fallocate is interrupted by a signal, every time but the last of four
//   flip=N:BIT    bit BIT of the N-th read from a file that is also written, which is the spill file
#include <dlfcn.h>
#include <fcntl.h>
#include <sys/uio.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdarg>
#include <cstdint>
#include <cstdlib>
#include <cstring>

namespace {

const char* asked_for(const char* word) {
  const char* all = std::getenv("FAULTY_CALLS");
  return all == nullptr ? nullptr : std::strstr(all, word);
}

template <class Function>
Function next(const char* name) {
  return reinterpret_cast<Function>(dlsym(RTLD_NEXT, name));
}

bool is_nameless(int flags) { return (flags & O_TMPFILE) == O_TMPFILE; }

std::atomic<std::uint64_t> reads{0};

void spoil(int descriptor, const iovec* parts, int count, ssize_t bytes) {
  const char* flip = asked_for("flip=");
  if (flip == nullptr || bytes <= 0 || (fcntl(descriptor, F_GETFL) & O_ACCMODE) != O_RDWR) return;
  char* end = nullptr;
  const std::uint64_t which = std::strtoull(flip + 5, &end, 10), bit = std::strtoull(end + 1, nullptr, 10);
  if (reads.fetch_add(1) + 1 != which) return;
  auto place = bit / 8 % static_cast<std::uint64_t>(bytes);
  for (int i = 0; i < count; place -= parts[i].iov_len, ++i)
    if (place < parts[i].iov_len) {
      static_cast<unsigned char*>(parts[i].iov_base)[place] ^= static_cast<unsigned char>(1u << bit % 8);
      return;
    }
}

}  // namespace

extern "C" {

int open(const char* path, int flags, ...) {
  mode_t mode = 0;
  if ((flags & O_CREAT) != 0 || is_nameless(flags)) {
    va_list rest;
    va_start(rest, flags);
    mode = va_arg(rest, mode_t);
    va_end(rest);
  }
  if (is_nameless(flags) && asked_for("named") != nullptr) {
    errno = EOPNOTSUPP;
    return -1;
  }
  return next<int (*)(const char*, int, ...)>("open")(path, flags, mode);
}

int fallocate(int descriptor, int mode, off_t offset, off_t bytes) {
  static std::atomic<int> calls{0};
  if (asked_for("interrupted") != nullptr && calls.fetch_add(1) % 4 != 3) {
    errno = EINTR;
    return -1;
  }
  return next<int (*)(int, int, off_t, off_t)>("fallocate")(descriptor, mode, offset, bytes);
}

ssize_t pread(int descriptor, void* memory, size_t bytes, off_t offset) {
  const ssize_t got =
      next<ssize_t (*)(int, void*, size_t, off_t)>("pread")(descriptor, memory, bytes, offset);
  const iovec part{memory, bytes};
  spoil(descriptor, &part, 1, got);
  return got;
}

ssize_t preadv(int descriptor, const iovec* parts, int count, off_t offset) {
  const ssize_t got =
      next<ssize_t (*)(int, const iovec*, int, off_t)>("preadv")(descriptor, parts, count, offset);
  spoil(descriptor, parts, count, got);
  return got;
}
}
