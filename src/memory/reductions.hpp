// Partial results of reductions: where a task that reduces adds, and when a partial result is empty (rule 8).
#pragma once
#include "memory/poison.hpp"
#include "memory/transfers.hpp"

namespace fairlead::memory {

class Reductions {
 public:
  Reductions(State& state, Transfers& transfers, Poison& poison)
      : state_(state), transfers_(transfers), poison_(poison) {}

  /// A task that reduces: chooses where it adds. False if all are taken.
  bool choose_target(Access& access, const MemoryNode& node);
  /// Of those to which the access may add, none is free.
  bool all_taken(const Access& access) const noexcept;
  /// For a task that folds: whether there is anything in its partial result.
  bool anything_to_fold(const Task& fold) const;
  /// It is over, or there was nothing to fold: the partial result is empty again.
  void fold_over(const Task& fold);
  /// The value of the datum was replaced: what is in its partial results belongs to the former one, and is dropped.
  void replaced(const Datum& datum);
  /// How many partial results a datum has.
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
