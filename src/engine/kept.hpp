// What unfinished tasks still need although the program has let go of it: kept until no thread runs any more.
#pragma once
#include <memory>
#include <mutex>
#include <new>
#include <utility>
#include <vector>

namespace fairlead::engine {

/// Any thread.
class Kept {
 public:
  /// Without memory to note it, for good.
  void keep(std::shared_ptr<void> something) noexcept {
    try {
      const std::lock_guard guard(mutex_);
      all_.push_back(std::move(something));
    } catch (const std::bad_alloc&) {
      keep_for_good(std::move(something));
    }
  }
  /// For ever: in a forked child, for instance, where nobody knows when it could go.
  static void keep_for_good(std::shared_ptr<void> something) noexcept {
    union Forever {  // nobody looks for it
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
