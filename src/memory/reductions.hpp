// Partial results of reductions: which one a task adds to, and when a partial result is empty (rule 8).
#pragma once
#include "memory/poison.hpp"
#include "memory/transfers.hpp"

namespace fairlead::memory {

class Reductions {
 public:
  Reductions(State& state, Transfers& transfers, Poison& poison)
      : state_(state), transfers_(transfers), poison_(poison) {}

  /// Chooses the target of a reducing task. False if all are taken.
  bool choose_target(Access& access, const MemoryNode& node);
  /// True if no partial result that the access may use is free.
  bool all_taken(const Access& access) const noexcept;
  /// True if the partial result that the task combines is not empty.
  bool anything_to_fold(const Task& fold) const;
  /// The combining task finished, or had nothing to combine: the partial result is empty again.
  void fold_over(const Task& fold);
  /// The datum's value was replaced: its partial results belong to the old value and are dropped.
  void replaced(const Datum& datum);
  /// The number of partial results of a datum.
  std::size_t count(DatumId id) const noexcept {
    return state_.data[id].is_partial ? 0 : state_.partials.of(state_.data[id]).size();
  }

 private:
  void empty(Datum& partial);

  State& state_;
  Transfers& transfers_;
  Poison& poison_;
};

}  // namespace fairlead::memory
