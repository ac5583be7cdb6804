// Descriptors are made and reused by one thread and emptied by many: the owner takes from its own list, the
// others hand chains of emptied ones back through one lock-free stack, 64 at a time.
#pragma once
#include <atomic>
#include <cstddef>
#include <mutex>

#include "base/chunked_vector.hpp"
#include "base/prefetch.hpp"

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

  T* take() {
    if (free_ == nullptr) refill();
    T* object = free_;
    free_ = PoolLink<T>::get(*object);
    // Another core may have emptied the next one: its lines come while this one is filled.
    if (shared_) prefetch<FetchedFor::writing>(free_, sizeof(T));
    return object;
  }

  /// Unused objects, linked, for a thread that is not the owner.
  T* take_many() {
    if (T* returned = returned_.exchange(nullptr, std::memory_order_acquire)) return returned;
    const std::lock_guard guard(mutex_);
    return make_chunk(others_objects_);
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

  /// Several threads empty objects.
  void share() noexcept { shared_ = true; }
  /// All objects there are, used or not. The owner's, once nobody else uses any.
  template <class F>
  void for_each(F&& f) {
    for (std::size_t i = 0; i < objects_.size(); ++i) f(objects_[i]);
    for (std::size_t i = 0; i < others_objects_.size(); ++i) f(others_objects_[i]);
  }
  std::size_t bytes_allocated() const noexcept { return objects_.size() * sizeof(T); }

 private:
  void refill() {
    // The whole stack is taken at once, so no object can leave and come back while a pusher looks at it.
    free_ = returned_.exchange(nullptr, std::memory_order_acquire);
    if (free_ == nullptr) free_ = make_chunk(objects_);
  }
  static T* make_chunk(ChunkedVector<T, chunk_size>& objects) {
    T* chunk = nullptr;
    const std::size_t first = objects.size();
    for (std::size_t i = 0; i < chunk_size; ++i) objects.emplace_back();
    for (std::size_t i = first + chunk_size; i-- > first;) {
      PoolLink<T>::set(objects[i], chunk);
      chunk = &objects[i];
    }
    return chunk;
  }

  T* free_ = nullptr;                     // the owner's
  bool shared_ = false;                   // likewise
  ChunkedVector<T, chunk_size> objects_;  // the owner's
  std::mutex mutex_;                      // guards what follows
  ChunkedVector<T, chunk_size> others_objects_;
  alignas(64) std::atomic<T*> returned_{nullptr};
};

}  // namespace fairlead::graph
