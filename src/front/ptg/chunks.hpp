// A growing array of objects with stable addresses: chunks are allocated on first access. Thread-safe.
#pragma once
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

namespace fairlead::ptg {

template <class T>
class Chunks {
 public:
  static constexpr std::size_t in_chunk = 1024, most = in_chunk * 1024;

  Chunks() = default;
  Chunks(const Chunks&) = delete;
  Chunks& operator=(const Chunks&) = delete;
  ~Chunks() {
    for (std::atomic<T*>& chunk : chunks_) delete[] chunk.load(std::memory_order_relaxed);
  }
  /// The object with this number, which is less than `most`.
  T& at(std::uint32_t number) {
    std::atomic<T*>& chunk = chunks_[number / in_chunk];
    T* objects = chunk.load(std::memory_order_acquire);
    if (objects == nullptr) [[unlikely]]
      objects = made(chunk);
    return objects[number % in_chunk];
  }

 private:
  static T* made(std::atomic<T*>& chunk) {
    T* const objects = new T[in_chunk];
    T* other = nullptr;
    // release: a thread that finds the chunk sees its objects constructed.
    if (chunk.compare_exchange_strong(other, objects, std::memory_order_acq_rel)) return objects;
    delete[] objects;
    return other;
  }
  std::array<std::atomic<T*>, most / in_chunk> chunks_{};
};

}  // namespace fairlead::ptg
