// Pools of descriptors. One thread, the owner, takes objects from its own list; many threads release them. These return
// chains of 64 through a lock-free stack.
#pragma once
#include <atomic>
#include <cstddef>
#include <mutex>

#include "base/prefetch.hpp"
#include "base/stable_vector.hpp"

namespace fairlead::graph {

/// Accessors to the link between unused objects of a type.
template <class T>
struct PoolLink;

/// Unused objects, linked through themselves.
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

/// take() is for the owner only; give_back() for any thread.
template <class T>
class Pool {
 public:
  static constexpr std::size_t chunk_size = 64;

  T* take() {
    if (free_ == nullptr) refill();
    T* object = free_;
    free_ = PoolLink<T>::get(*object);
    // Another core may have released the next object: prefetch its lines while this one is filled in.
    if (shared_) prefetch<FetchedFor::writing>(free_, sizeof(T));
    return object;
  }

  /// Linked unused objects, for a thread other than the owner.
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
      // release: the owner, which acquires in refill(), sees the objects as they were released.
    } while (!returned_.compare_exchange_weak(head, chain.first, std::memory_order_release,
                                              std::memory_order_relaxed));
    chain = {};
  }

  /// Several threads release objects.
  void share() noexcept { shared_ = true; }
  /// All objects, used or not. For the owner, once no other thread uses any.
  template <class F>
  void for_each(F&& f) {
    for (std::size_t i = 0; i < objects_.size(); ++i) f(objects_[i]);
    for (std::size_t i = 0; i < others_objects_.size(); ++i) f(others_objects_[i]);
  }
  std::size_t bytes_allocated() const noexcept { return objects_.size() * sizeof(T); }

 private:
  void refill() {
    // Takes the whole stack at once, so no object can leave and return while a pusher reads it (no ABA problem).
    free_ = returned_.exchange(nullptr, std::memory_order_acquire);
    if (free_ == nullptr) free_ = make_chunk(objects_);
  }
  static T* make_chunk(StableVector<T, chunk_size>& objects) {
    T* chunk = nullptr;
    const std::size_t first = objects.size();
    for (std::size_t i = 0; i < chunk_size; ++i) objects.emplace_back();
    for (std::size_t i = first + chunk_size; i-- > first;) {
      PoolLink<T>::set(objects[i], chunk);
      chunk = &objects[i];
    }
    return chunk;
  }

  T* free_ = nullptr;                    // used by the owner only
  bool shared_ = false;                  // used by the owner only
  StableVector<T, chunk_size> objects_;  // used by the owner only
  std::mutex mutex_;                     // guards others_objects_
  StableVector<T, chunk_size> others_objects_;
  alignas(64) std::atomic<T*> returned_{nullptr};
};

}  // namespace fairlead::graph
