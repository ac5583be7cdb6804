// How much of what the program has registered the runtime keeps. What that will use of the memory is faulted in when it
// is registered, not in the middle of a task.
#pragma once
#include <fairlead/ids.hpp>

#include <algorithm>

#include "backend/arena.hpp"

namespace fairlead::front {

class KeptBytes {
 public:
  KeptBytes(backend::Arena& arena, Bytes capacity) noexcept : arena_(arena), capacity_(capacity) {}

  void add(Bytes more) {
    all_ += more;
    const Bytes wanted = std::min(capacity_, all_);
    if (wanted <= warmed_) return;
    arena_.warm(warmed_, wanted);
    warmed_ = wanted;
  }
  /// It is gone. What was faulted in stays so.
  void remove(Bytes gone) noexcept { all_ -= gone; }
  Bytes all() const noexcept { return all_; }

 private:
  backend::Arena& arena_;
  const Bytes capacity_;
  Bytes all_ = 0, warmed_ = 0;
};

}  // namespace fairlead::front
