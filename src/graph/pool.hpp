// Descriptors are made and reused by one thread and emptied by many: the owner takes from its own list, the
// others hand chains of emptied ones back through one lock-free stack, 64 at a time.
#pragma once
#include <atomic>
#include <cstddef>
#include <memory>
#include <vector>

#include "base/slabs.hpp"

namespace fairlead::graph {

/// How a type links to the next of its kind while it is unused.
template <class T>
struct PoolLink;

/// Unused objects linked through themselves.
template <class T>
struct PoolChain {
  T* first = nullptr;
  T* last = nullptr;
  std::size_t size = 0;

  void push(T* object) noexcept {
    PoolLink<T>::set(*object, first);
    first = object;
    if (last == nullptr) last = object;
    ++size;
  }
};

/// `take` is the owner's alone; `give_back` is anybody's.
template <class T>
class Pool {
 public:
  static constexpr std::size_t chunk_size = 64;

  Pool() = default;
  Pool(const Pool&) = delete;
  Pool& operator=(const Pool&) = delete;
  ~Pool() {
    for (T* chunk : chunks_) std::destroy_n(chunk, chunk_size);
  }

  T* take() {
    if (free_ == nullptr) refill();
    T* object = free_;
    free_ = PoolLink<T>::get(*object);
    return object;
  }

  void give_back(PoolChain<T>& chain) noexcept {
    if (chain.first == nullptr) return;
    T* head = returned_.load(std::memory_order_relaxed);
    do {
      PoolLink<T>::set(*chain.last, head);
      // release: the owner, who acquires in refill(), sees the objects as they were left.
    } while (!returned_.compare_exchange_weak(head, chain.first, std::memory_order_release,
                                              std::memory_order_relaxed));
    chain = {};
  }

  /// All objects there are, used or not. The owner's, once nobody else uses any.
  template <class F>
  void for_each(F&& f) {
    for (T* chunk : chunks_)
      for (std::size_t i = 0; i < chunk_size; ++i) f(chunk[i]);
  }
  std::size_t bytes_allocated() const noexcept { return chunks_.size() * chunk_size * sizeof(T); }

 private:
  void refill() {
    // The whole stack is taken at once, so no object can leave and come back while a pusher looks at it.
    free_ = returned_.exchange(nullptr, std::memory_order_acquire);
    if (free_ != nullptr) return;
    chunks_.reserve(chunks_.size() + 1);
    T* const chunk = static_cast<T*>(slabs_.take(sizeof(T) * chunk_size, alignof(T)));
    std::uninitialized_default_construct_n(chunk, chunk_size);
    chunks_.push_back(chunk);
    for (std::size_t i = chunk_size; i-- > 0;) {
      T& object = chunk[i];
      PoolLink<T>::set(object, free_);
      free_ = &object;
    }
  }

  // All three are the owner's.
  T* free_ = nullptr;
  Slabs slabs_;
  std::vector<T*> chunks_;
  alignas(64) std::atomic<T*> returned_{nullptr};
};

}  // namespace fairlead::graph
