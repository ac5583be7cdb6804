// Objects that unfinished tasks still need after the program has released them; kept until no thread runs tasks any
// more.
#pragma once
#include <memory>
#include <mutex>
#include <new>
#include <utility>
#include <vector>

namespace fairlead::engine {

/// Any thread.
class DeferredObjects {
 public:
  /// Without memory to store the pointer, the object is leaked.
  void keep(std::shared_ptr<void> something) noexcept {
    try {
      const std::lock_guard guard(mutex_);
      all_.push_back(std::move(something));
    } catch (const std::bad_alloc&) {
      keep_for_good(std::move(something));
    }
  }
  /// Leaks the object, for example in a forked child, where it can never be destroyed safely.
  static void keep_for_good(std::shared_ptr<void> something) noexcept {
    union Forever {  // its destructor does not destroy `kept`
      explicit Forever(std::shared_ptr<void>&& it) noexcept : kept(std::move(it)) {}
      ~Forever() {}
      std::shared_ptr<void> kept;
    };
    const Forever forever(std::move(something));
  }

 private:
  std::mutex mutex_;  // guards all_
  std::vector<std::shared_ptr<void>> all_;
};

}  // namespace fairlead::engine
