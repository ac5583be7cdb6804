// A preloaded library that intercepts the C library's file operations and lets some of them fail, according to its plan. It
// ignores system files (/proc, /sys, ...) and the kept timings of the BLAS, without which each start would take seconds.
#include <dlfcn.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdarg>
#include <cstdlib>
#include <cstring>

#include "shim/plan.hpp"

namespace {

using namespace fairlead::shim;

constexpr std::size_t most_descriptors = 4096, sector = 4096;

template <class Function>
Function* next(const char* name) {
  return reinterpret_cast<Function*>(dlsym(RTLD_NEXT, name));
}

ShimPlan unused{};

// The plan; of children none, which inherit the environment of a program that has forgotten it.
ShimPlan& plan() {
  static ShimPlan* const found = [] {
    const char* path = std::getenv(shim_variable);
    if (path == nullptr) return &unused;
    const int descriptor = next<int(const char*, int, ...)>("open")(path, O_RDWR | O_CLOEXEC);
    unsetenv(shim_variable);
    unsetenv("LD_PRELOAD");
    if (descriptor < 0) return &unused;
    void* const mapped = next<void*(void*, std::size_t, int, int, int, off_t)>("mmap")(
        nullptr, sizeof(ShimPlan), PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0);
    next<int(int)>("close")(descriptor);
    return mapped == MAP_FAILED ? &unused : static_cast<ShimPlan*>(mapped);
  }();
  return *found;
}

__attribute__((constructor)) void begin() { plan(); }

// Descriptors of the files that count.
std::array<std::atomic<bool>, most_descriptors> ours{};

bool is_ours(int descriptor) {
  return descriptor >= 0 && static_cast<std::size_t>(descriptor) < most_descriptors &&
         ours[static_cast<std::size_t>(descriptor)];
}

void remember(int descriptor, bool counts) {
  if (descriptor >= 0 && static_cast<std::size_t>(descriptor) < most_descriptors)
    ours[static_cast<std::size_t>(descriptor)] = counts;
}

bool counts(const char* path) {
  for (const char* system :
       {"/proc/", "/sys/", "/etc/", "/usr/", "/lib", "/dev/null", "/dev/pts", "/dev/tty"})
    if (std::strncmp(path, system, std::strlen(system)) == 0) return false;
  return std::strstr(path, "blas-timings") == nullptr;
}

bool without_name(int descriptor) {
  struct stat state {};
  return fstat(descriptor, &state) == 0 && S_ISREG(state.st_mode) && state.st_nlink == 0;
}

// Whether the plan applies to this call.
bool chosen(FileOperation operation) {
  const std::uint64_t number = plan().calls[static_cast<std::size_t>(operation)].fetch_add(1);
  if (plan().operation != operation || plan().effect == Effect::none) return false;
  if (number < plan().after || number - plan().after >= plan().times) return false;
  plan().done.fetch_add(1);
  return true;
}

/// Around one call: signals, and whether it fails.
class Call {
 public:
  explicit Call(FileOperation operation) : chosen_(chosen(operation)) {
    if (operation != FileOperation::map && chosen(FileOperation::any)) {
      after_ = plan().effect == Effect::signal_after;
      if (!after_) kill(getpid(), static_cast<int>(plan().number));
    }
  }
  ~Call() {
    const int kept = errno;
    if (after_) kill(getpid(), static_cast<int>(plan().number));
    errno = kept;
  }
  Call(const Call&) = delete;
  Call& operator=(const Call&) = delete;

  bool has(Effect effect) const { return chosen_ && plan().effect == effect; }
  bool fails() const {
    if (!has(Effect::fail)) return false;
    errno = static_cast<int>(plan().number);
    return true;
  }

 private:
  bool chosen_, after_ = false;
};

/// A part of so many bytes that the system could have made of it: whole sectors with direct I/O.
std::size_t part_of(int descriptor, std::size_t bytes) {
  if (bytes < 2) return bytes;
  const bool direct = (fcntl(descriptor, F_GETFL) & O_DIRECT) != 0;
  const std::size_t part = bytes / 3 + 1;
  return direct ? std::max(part / sector * sector, std::min(bytes, sector)) : part;
}

/// As a system that has read no more; with direct I/O, which takes whole sectors, by way of one.
ssize_t first_byte_of(int descriptor, const iovec& part, off_t offset) {
  static auto* const pread_ = next<ssize_t(int, void*, std::size_t, off_t)>("pread");
  const bool direct = (fcntl(descriptor, F_GETFL) & O_DIRECT) != 0;
  const ssize_t got = pread_(descriptor, part.iov_base, direct ? std::min(part.iov_len, sector) : 1, offset);
  return got > 1 ? 1 : got;
}

void flip(const iovec* parts, int count, std::size_t bytes) {
  if (bytes == 0) return;
  std::size_t bit = plan().number % (8 * bytes);
  for (int i = 0; i < count; ++i) {
    if (bit < 8 * parts[i].iov_len) {
      static_cast<unsigned char*>(parts[i].iov_base)[bit / 8] ^= static_cast<unsigned char>(1u << (bit % 8));
      return;
    }
    bit -= 8 * parts[i].iov_len;
  }
}

ssize_t read_parts(int descriptor, const iovec* parts, int count, off_t offset) {
  const auto real = [&](int used) {
    static auto* const preadv_ = next<ssize_t(int, const iovec*, int, off_t)>("preadv");
    return preadv_(descriptor, parts, used, offset);
  };
  if (!is_ours(descriptor)) return real(count);
  const Call call(FileOperation::read);
  const bool spilled = without_name(descriptor) && chosen(FileOperation::spill_read);
  if (call.fails()) return -1;
  if (call.has(Effect::end)) return 0;
  if (call.has(Effect::byte)) return first_byte_of(descriptor, parts[0], offset);
  if (call.has(Effect::part)) {
    static auto* const pread_ = next<ssize_t(int, void*, std::size_t, off_t)>("pread");
    return pread_(descriptor, parts[0].iov_base, part_of(descriptor, parts[0].iov_len), offset);
  }
  const ssize_t got = real(count);
  if (spilled && plan().effect == Effect::flip && got > 0) flip(parts, count, static_cast<std::size_t>(got));
  return got;
}

ssize_t write_parts(int descriptor, const iovec* parts, int count, off_t offset) {
  static auto* const pwritev_ = next<ssize_t(int, const iovec*, int, off_t)>("pwritev");
  if (!is_ours(descriptor)) return pwritev_(descriptor, parts, count, offset);
  const Call call(FileOperation::write);
  if (call.fails()) return -1;
  if (call.has(Effect::byte)) {
    // Direct I/O writes whole sectors: all of it is written, and one byte admitted.
    const ssize_t written = pwritev_(descriptor, parts, count, offset);
    return written > 1 ? 1 : written;
  }
  if (call.has(Effect::part)) {
    static auto* const pwrite_ = next<ssize_t(int, const void*, std::size_t, off_t)>("pwrite");
    return pwrite_(descriptor, parts[0].iov_base, part_of(descriptor, parts[0].iov_len), offset);
  }
  return pwritev_(descriptor, parts, count, offset);
}

template <class Function, class... Arguments>
auto done_to_ours(FileOperation operation, int descriptor, const char* name, Arguments... arguments) {
  auto* const real = next<Function>(name);
  using Result = decltype(real(descriptor, arguments...));
  if (!is_ours(descriptor)) return real(descriptor, arguments...);
  const Call call(operation);
  return call.fails() ? Result(-1) : real(descriptor, arguments...);
}

int open_path(const char* path, int flags, mode_t mode) {
  static auto* const real = next<int(const char*, int, ...)>("open");
  if (!counts(path)) {
    const int descriptor = real(path, flags, mode);
    remember(descriptor, false);
    return descriptor;
  }
  if (plan().no_unnamed_files && (flags & O_TMPFILE) == O_TMPFILE) {
    errno = EOPNOTSUPP;
    return -1;
  }
  const Call call(FileOperation::open);
  if (call.fails()) return -1;
  const int descriptor = real(path, flags, mode);
  remember(descriptor, true);
  return descriptor;
}

}  // namespace

extern "C" {

int open(const char* path, int flags, ...) {
  mode_t mode = 0;
  if ((flags & O_CREAT) != 0 || (flags & O_TMPFILE) == O_TMPFILE) {
    va_list list;
    va_start(list, flags);
    mode = va_arg(list, mode_t);
    va_end(list);
  }
  return open_path(path, flags, mode);
}

int mkostemp(char* path, int flags) {
  const Call call(FileOperation::open);
  if (call.fails()) return -1;
  const int descriptor = next<int(char*, int)>("mkostemp")(path, flags);
  remember(descriptor, true);
  return descriptor;
}

ssize_t pread(int descriptor, void* memory, std::size_t bytes, off_t offset) {
  const iovec part{memory, bytes};
  return read_parts(descriptor, &part, 1, offset);
}

ssize_t preadv(int descriptor, const iovec* parts, int count, off_t offset) {
  return read_parts(descriptor, parts, count, offset);
}

ssize_t pwrite(int descriptor, const void* memory, std::size_t bytes, off_t offset) {
  const iovec part{const_cast<void*>(memory), bytes};
  return write_parts(descriptor, &part, 1, offset);
}

ssize_t pwritev(int descriptor, const iovec* parts, int count, off_t offset) {
  return write_parts(descriptor, parts, count, offset);
}

ssize_t write(int descriptor, const void* memory, std::size_t bytes) {
  using Function = ssize_t(int, const void*, std::size_t);
  return done_to_ours<Function>(FileOperation::write, descriptor, "write", memory, bytes);
}

int fallocate(int descriptor, int mode, off_t offset, off_t bytes) {
  return done_to_ours<int(int, int, off_t, off_t)>(FileOperation::allocate, descriptor, "fallocate", mode,
                                                   offset, bytes);
}

int fsync(int descriptor) { return done_to_ours<int(int)>(FileOperation::sync, descriptor, "fsync"); }

int fdatasync(int descriptor) { return done_to_ours<int(int)>(FileOperation::sync, descriptor, "fdatasync"); }

int sync_file_range(int descriptor, off64_t offset, off64_t bytes, unsigned flags) {
  return done_to_ours<int(int, off64_t, off64_t, unsigned)>(FileOperation::sync, descriptor,
                                                            "sync_file_range", offset, bytes, flags);
}

int ftruncate(int descriptor, off_t bytes) {
  return done_to_ours<int(int, off_t)>(FileOperation::truncate, descriptor, "ftruncate", bytes);
}

int close(int descriptor) {
  const bool counted = is_ours(descriptor);
  static auto* const real = next<int(int)>("close");
  if (!counted) return real(descriptor);
  const Call call(FileOperation::close);
  remember(descriptor, false);
  const int result = real(descriptor);  // it is closed nevertheless, as by Linux
  return call.fails() ? -1 : result;
}

int linkat(int from_directory, const char* from, int to_directory, const char* to, int flags) noexcept {
  const Call call(FileOperation::link);
  return call.fails() ? -1
                      : next<int(int, const char*, int, const char*, int)>("linkat")(from_directory, from,
                                                                                     to_directory, to, flags);
}

int rename(const char* from, const char* to) noexcept {
  if (!counts(to)) return next<int(const char*, const char*)>("rename")(from, to);
  const Call call(FileOperation::rename);
  return call.fails() ? -1 : next<int(const char*, const char*)>("rename")(from, to);
}

void* mmap(void* address, std::size_t bytes, int protection, int flags, int descriptor,
           off_t offset) noexcept {
  static auto* const real = next<void*(void*, std::size_t, int, int, int, off_t)>("mmap");
  if ((flags & MAP_ANONYMOUS) != 0) {
    const Call call(FileOperation::map);
    if (call.fails()) return MAP_FAILED;
  }
  return real(address, bytes, protection, flags, descriptor, offset);
}

}  // extern "C"
