// Counts the registered bytes that the runtime stores. Registration faults in the pages that these data will use, so
// that no page faults occur inside tasks.
#pragma once
#include <fairlead/ids.hpp>

#include <algorithm>

#include "backend/arena.hpp"

namespace fairlead::front {

class StoredBytes {
 public:
  StoredBytes(backend::Arena& arena, Bytes capacity) noexcept : arena_(arena), capacity_(capacity) {}

  void add(Bytes more) {
    all_ += more;
    const Bytes wanted = std::min(capacity_, all_);
    if (wanted <= warmed_) return;
    arena_.warm(warmed_, wanted);
    warmed_ = wanted;
  }
  /// Subtracts removed data. Their pages stay faulted in.
  void remove(Bytes gone) noexcept { all_ -= gone; }
  Bytes all() const noexcept { return all_; }

 private:
  backend::Arena& arena_;
  const Bytes capacity_;
  Bytes all_ = 0, warmed_ = 0;
};

}  // namespace fairlead::front
