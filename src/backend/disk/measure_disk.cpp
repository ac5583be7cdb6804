// Measures with the runtime's own spill file and I/O threads; twice as many chunks as threads are in flight.
#include "backend/disk/measure_disk.hpp"

#include <fairlead/error.hpp>

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <condition_variable>
#include <cstring>
#include <mutex>
#include <vector>

#include "backend/disk/aligned_memory.hpp"
#include "backend/disk/io_threads.hpp"
#include "backend/disk/spill_file.hpp"
#include "base/core_time.hpp"
#include "base/random.hpp"

namespace fairlead::backend {

namespace {

using Clock = std::chrono::steady_clock;
constexpr Bytes page = 4096;
constexpr unsigned latency_samples = 200;

/// Random bytes, so that a compressing disk gains nothing.
AlignedMemory random_bytes(Bytes bytes, std::uint64_t seed) {
  AlignedMemory buffer = aligned_memory(bytes, page);
  if (!buffer) throw std::bad_alloc();
  Random random(seed);
  for (Bytes i = 0; i < bytes; i += 8) {
    const std::uint64_t word = random.next();
    std::memcpy(buffer.get() + i, &word, 8);
  }
  return buffer;
}

class Measuring {
 public:
  Measuring(const std::string& directory, const DiskMeasurement& how)
      : how_(how),
        file_(directory),
        threads_(
            {.threads = how.threads}, [] { return Time(Clock::now().time_since_epoch()); },
            [this](const IoResult& result) { done(result); }) {
    file_.reserve(how.bytes);
    for (unsigned i = 0; i < 2 * how.threads; ++i) {
      buffers_.push_back(random_bytes(DiskMeasurement::piece, i));
      free_.push_back(buffers_.back().get());
    }
  }

  bool direct() const noexcept { return file_.direct(); }

  struct Pass {
    double bytes_per_second = 0, without_core = 0;
  };
  /// One pass over the file within the time limit. `reading(i)`: whether chunk i is read or written.
  template <class Reading>
  Pass pass(const Reading& reading) {
    const auto begin = Clock::now();
    const CoreContention watch(how_.threads);
    Bytes bytes = 0;
    bool wrote = false;
    for (Bytes offset = 0; offset + DiskMeasurement::piece <= how_.bytes; offset += DiskMeasurement::piece) {
      if (Clock::now() - begin > how_.longest) break;
      const bool reads = reading(offset / DiskMeasurement::piece);
      wrote |= !reads;
      std::byte* buffer = free_buffer();
      threads_.submit({.descriptor = file_.descriptor(),
                       .offset = offset,
                       .memory = buffer,
                       .bytes = DiskMeasurement::piece,
                       .direction = reads ? IoDirection::read : IoDirection::write,
                       .token = buffer});
      bytes += DiskMeasurement::piece;
    }
    wait_for_all();
    if (wrote && ::fdatasync(file_.descriptor()) != 0) fail(errno);
    const double all = std::chrono::duration<double>(Clock::now() - begin).count();
    const double without_core = watch.without_core();
    constexpr double least_left = 0.05;
    return {static_cast<double>(bytes) / (all * std::max(1 - without_core, least_left)), without_core};
  }
  /// The fastest of several passes within the time limit: other programs and, of a virtual disk, other machines can only
  /// slow it down.
  template <class Reading>
  double fastest_pass(const Reading& reading) {
    constexpr int passes = 3;
    const auto begin = Clock::now();
    Pass fastest;
    for (int i = 0; i < passes && Clock::now() - begin < how_.longest; ++i)
      if (const Pass one = pass(reading); one.bytes_per_second > fastest.bytes_per_second) fastest = one;
    without_core_ = std::max(without_core_, fastest.without_core);
    return fastest.bytes_per_second;
  }
  double without_core() const noexcept { return without_core_; }

  Duration latency() {
    Random random(1);
    std::vector<Duration> samples;
    const auto begin = Clock::now();
    for (unsigned i = 0; i < latency_samples && Clock::now() - begin < how_.longest; ++i) {
      const auto offset = static_cast<off_t>(random.below(how_.bytes / page) * page);
      if (!file_.direct()) ::posix_fadvise(file_.descriptor(), 0, 0, POSIX_FADV_DONTNEED);
      const auto start = Clock::now();
      if (::pread(file_.descriptor(), buffers_[0].get(), page, offset) != static_cast<ssize_t>(page))
        fail(errno);
      samples.emplace_back(Clock::now() - start);
    }
    const auto middle = samples.begin() + static_cast<std::ptrdiff_t>(samples.size() / 2);
    std::nth_element(samples.begin(), middle, samples.end());
    return *middle;
  }

 private:
  void done(const IoResult& result) {
    {
      const std::lock_guard guard(mutex_);
      free_.push_back(static_cast<std::byte*>(result.token));
      if (result.error_number != 0) error_ = result.error_number;
    }
    freed_.notify_one();
  }
  std::byte* free_buffer() {
    std::unique_lock lock(mutex_);
    freed_.wait(lock, [this] { return !free_.empty(); });
    if (error_ != 0) fail(error_);
    std::byte* buffer = free_.back();
    free_.pop_back();
    return buffer;
  }
  void wait_for_all() {
    std::unique_lock lock(mutex_);
    freed_.wait(lock, [this] { return free_.size() == buffers_.size(); });
    if (error_ != 0) fail(error_);
  }
  [[noreturn]] void fail(int error) const {
    throw SystemError(
        fmt::format("cannot measure the disk of \"{}\": {}", file_.directory(), std::strerror(error)));
  }

  DiskMeasurement how_;
  double without_core_ = 0;
  SpillFile file_;
  std::vector<AlignedMemory> buffers_;
  std::mutex mutex_;  // guards the two fields below
  std::vector<std::byte*> free_;
  int error_ = 0;
  std::condition_variable freed_;
  IoThreads threads_;  // last: its threads end first
};

}  // namespace

DiskMeasurementResult measure_disk(const std::string& directory, const DiskMeasurement& how,
                                   const std::function<void(std::string_view part)>& part) {
  part("finding room");
  Measuring measuring(directory, how);
  measuring.pass([](Bytes) { return false; });
  DiskMeasurementResult figures;
  figures.direct = measuring.direct();
  part("writing");
  figures.written = measuring.fastest_pass([](Bytes) { return false; });
  part("reading");
  figures.read = measuring.fastest_pass([](Bytes) { return true; });
  part("reading and writing");
  figures.both = measuring.fastest_pass([](Bytes piece) { return piece % 2 == 0; });
  part("reading pages one by one");
  figures.latency = measuring.latency();
  figures.without_core = measuring.without_core();
  return figures;
}

}  // namespace fairlead::backend
