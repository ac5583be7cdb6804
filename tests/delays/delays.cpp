// A library to be loaded before all others: now and then a thread that takes or gives back a mutex, or reads or writes a
// file, naps for a moment. Threads meet in orders then that a quiet machine shows once in thousands of runs.
#include <dlfcn.h>
#include <pthread.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <unistd.h>

#include <cstdint>
#include <ctime>

namespace {

/// How often, of 1,000 times, and for how long at most; one nap of 16 takes up to eight times as long.
struct Naps {
  std::uint32_t per_thousand;
  std::uint32_t microseconds;
};
constexpr Naps at_locks{5, 300}, at_files{20, 1000};

/// Each thread's own, begun by where and when it is.
std::uint64_t drawn() {
  static thread_local std::uint64_t state = 0;
  if (state == 0) {
    timespec now{};
    clock_gettime(CLOCK_MONOTONIC, &now);
    state = (static_cast<std::uint64_t>(now.tv_nsec) * 0x9e3779b97f4a7c15u) ^
            reinterpret_cast<std::uintptr_t>(&state) ^ static_cast<std::uint64_t>(getpid());
    state |= state == 0;
  }
  state ^= state << 13;
  state ^= state >> 7;
  state ^= state << 17;
  return state;
}

void perhaps_nap(const Naps& naps) {
  if (drawn() % 1000 >= naps.per_thousand) return;
  std::uint64_t microseconds = drawn() % naps.microseconds;
  if (drawn() % 16 == 0) microseconds *= 8;
  const timespec time{0, static_cast<long>(microseconds * 1000)};
  nanosleep(&time, nullptr);
}

template <class Function>
Function* following(const char* name) {
  return reinterpret_cast<Function*>(dlsym(RTLD_NEXT, name));
}

template <class Call>
auto with_naps(const Call& call) {
  perhaps_nap(at_files);
  const auto result = call();
  perhaps_nap(at_files);
  return result;
}

}  // namespace

extern "C" {

int pthread_mutex_lock(pthread_mutex_t* mutex) noexcept {
  static auto* const lock = following<int(pthread_mutex_t*)>("pthread_mutex_lock");
  perhaps_nap(at_locks);
  return lock(mutex);
}

int pthread_mutex_unlock(pthread_mutex_t* mutex) noexcept {
  static auto* const unlock = following<int(pthread_mutex_t*)>("pthread_mutex_unlock");
  const int result = unlock(mutex);
  perhaps_nap(at_locks);
  return result;
}

ssize_t pread(int descriptor, void* to, size_t bytes, off_t offset) {
  static auto* const read = following<ssize_t(int, void*, size_t, off_t)>("pread");
  return with_naps([&] { return read(descriptor, to, bytes, offset); });
}

ssize_t pwrite(int descriptor, const void* from, size_t bytes, off_t offset) {
  static auto* const write = following<ssize_t(int, const void*, size_t, off_t)>("pwrite");
  return with_naps([&] { return write(descriptor, from, bytes, offset); });
}

ssize_t preadv(int descriptor, const iovec* parts, int count, off_t offset) {
  static auto* const read = following<ssize_t(int, const iovec*, int, off_t)>("preadv");
  return with_naps([&] { return read(descriptor, parts, count, offset); });
}

ssize_t pwritev(int descriptor, const iovec* parts, int count, off_t offset) {
  static auto* const write = following<ssize_t(int, const iovec*, int, off_t)>("pwritev");
  return with_naps([&] { return write(descriptor, parts, count, offset); });
}

}  // extern "C"
