// Shared by the tests of disk I/O: a spill file in the working directory, threads, and memory aligned for direct I/O.
#pragma once
#include <sys/mman.h>

#include <algorithm>
#include <condition_variable>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <memory>
#include <mutex>
#include <new>
#include <span>
#include <vector>

#include "backend/disk/io_threads.hpp"
#include "backend/disk/spill_file.hpp"
#include "base/random.hpp"

namespace fairlead::backend {

constexpr Bytes MiB = Bytes{1} << 20;

/// Page-aligned memory.
class Buffer {
 public:
  explicit Buffer(Bytes bytes) : bytes_((bytes + 4095) / 4096 * 4096) {
    memory_ = static_cast<std::byte*>(std::aligned_alloc(4096, bytes_));
    if (memory_ == nullptr) throw std::bad_alloc();
    std::memset(memory_, 0, bytes_);
  }
  Buffer(const Buffer&) = delete;
  Buffer& operator=(const Buffer&) = delete;
  ~Buffer() { std::free(memory_); }

  std::byte* data() const { return memory_; }
  void fill(std::uint64_t seed) {
    Random random(seed);
    for (Bytes i = 0; i < bytes_; i += 8) {
      const std::uint64_t value = random.next();
      std::memcpy(memory_ + i, &value, 8);
    }
  }

 private:
  Bytes bytes_;
  std::byte* memory_;
};

class World {
 public:
  explicit World(IoThreads::Settings settings = {}, const char* directory = ".", Bytes fits_in_memory = 0)
      : file(directory, fits_in_memory),
        io(std::make_unique<IoThreads>(
            settings, [this] { return now(); }, [this](const IoResult& result) { done(result); })) {}

  Time now() const { return std::chrono::steady_clock::now() - began_; }

  IoRequest read(Bytes offset, std::byte* memory, Bytes bytes) const {
    return {file.descriptor(), offset, memory, bytes, IoDirection::read, nullptr};
  }
  IoRequest write(Bytes offset, std::byte* memory, Bytes bytes) const {
    return {file.descriptor(), offset, memory, bytes, IoDirection::write, nullptr};
  }

  /// How much of the first `bytes` of the file the page cache holds.
  Bytes cached_bytes(Bytes bytes) const {
    void* const mapped = mmap(nullptr, bytes, PROT_READ, MAP_SHARED, file.descriptor(), 0);
    std::vector<unsigned char> pages(bytes / 4096);
    if (mapped == MAP_FAILED || mincore(mapped, bytes, pages.data()) != 0) throw std::bad_alloc();
    munmap(mapped, bytes);
    return static_cast<Bytes>(std::ranges::count_if(pages, [](unsigned char flags) { return flags & 1; })) *
           4096;
  }

  /// Submits all and waits; results in the order of the requests.
  std::vector<IoResult> run(std::span<IoRequest> requests) {
    std::vector<IoResult> results(requests.size());
    std::size_t left = requests.size();
    std::mutex mutex;
    std::condition_variable all_done;
    for (std::size_t i = 0; i < requests.size(); ++i) requests[i].token = &results[i];
    on_done = [&](const IoResult& result) {
      const std::lock_guard lock(mutex);
      *static_cast<IoResult*>(result.token) = result;
      if (--left == 0) all_done.notify_all();
    };
    io->submit(requests);
    std::unique_lock lock(mutex);
    all_done.wait(lock, [&] { return left == 0; });
    return results;
  }
  IoResult run(IoRequest request) { return run({&request, 1}).front(); }

 private:
  void done(const IoResult& result) { on_done(result); }

  const std::chrono::steady_clock::time_point began_ = std::chrono::steady_clock::now();

 public:
  SpillFile file;
  std::function<void(const IoResult&)> on_done;
  IoThreads* io_while_it_ends = nullptr;  // its pointer below is already empty then
  std::unique_ptr<IoThreads> io;
};

}  // namespace fairlead::backend
