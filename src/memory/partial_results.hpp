// The partial results of each datum's reductions, and which of them are not empty.
#pragma once
#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "base/check.hpp"
#include "memory/datum_table.hpp"

namespace fairlead::memory {

struct PartialResult {
  DatumId id;
  bool used = false;  ///< not empty: a task has added to it since the last combination
};

/// `Datum::partials` of a datum and of its partial results is their index here, plus 1.
class PartialResults {
 public:
  /// Adds `partial`, with the number `id`, to the partial results of `whole`.
  void add(Datum& whole, Datum& partial, DatumId id) {
    if (whole.partials == 0) whole.partials = place();
    partial.partials = whole.partials.get();
    places_[whole.partials - 1].push_back({id});
  }
  /// Removes a partial result, or a datum whose partial results are gone.
  void remove(const Datum& datum, DatumId id) {
    if (datum.partials == 0) return;
    auto& all = places_[datum.partials - 1];
    if (datum.is_partial) {
      std::erase_if(all, [&](const PartialResult& partial) { return partial.id == id; });
    } else if (all.empty()) {
      unused_.push_back(datum.partials);
    }
  }
  /// The partial results of the datum, in the order of add().
  std::span<const PartialResult> of(const Datum& whole) const noexcept {
    if (whole.partials == 0) return {};
    return places_[whole.partials - 1];
  }
  /// A task adds to the partial result of this index.
  void note_use(const Datum& whole, std::size_t number) noexcept {
    places_[whole.partials - 1][number].used = true;
  }
  /// True if a task has added to it since its last combination.
  bool used(const Datum& partial, DatumId id) const {
    return const_cast<PartialResults&>(*this).entry(partial, id).used;
  }
  void note_empty(const Datum& partial, DatumId id) { entry(partial, id).used = false; }

 private:
  PartialResult& entry(const Datum& partial, DatumId id) {
    ensure(partial.is_partial, "a folded datum is a partial result");
    return *std::ranges::find(places_[partial.partials - 1], id, &PartialResult::id);
  }
  std::uint32_t place() {
    if (unused_.empty()) {
      if (unused_.capacity() <= places_.size()) unused_.reserve(2 * places_.size() + 8);
      places_.emplace_back();
      return static_cast<std::uint32_t>(places_.size());
    }
    const std::uint32_t place = unused_.back();
    unused_.pop_back();
    return place;
  }

  std::vector<std::vector<PartialResult>> places_;  // by Datum::partials - 1
  std::vector<std::uint32_t> unused_;               // free indices plus 1; has capacity for all
};

}  // namespace fairlead::memory
