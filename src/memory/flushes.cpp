// See flushes.hpp.
#include "memory/flushes.hpp"

#include <utility>

#include "base/check.hpp"

namespace fairlead::memory {

void Flushes::flush(Effects& effects, Writers writers) {
  ensure(!wanted_, "one flush ends before the next begins");
  refreshing_ = writers == Writers::paused;
  for (std::size_t i = 0; i < state_.data.size(); ++i) {
    Datum& datum = state_.data[static_cast<DatumId>(i)];
    if (!datum.dirty() || datum.removed || datum.is_partial) continue;
    ++open_;
    if (datum.home.arriving == nullptr && datum.writers != 0 && !refreshing_) {
      datum.flush_when_written = true;
    } else {
      join_or_send_home(datum, effects);
    }
  }
  wanted_ = open_ != 0;
}

void Flushes::refresh(std::span<const DatumId> data, Effects& effects) {
  ensure(!wanted_, "one flush ends before the next begins");
  refreshing_ = true;
  for (const DatumId id : data) {
    Datum& datum = state_.data[id];
    if (!datum.dirty() || datum.removed || datum.is_partial || datum.writers != 0) continue;
    if (datum.home.arriving != nullptr && datum.home.arriving->counts_for_flush) continue;  // named twice
    ++open_;
    join_or_send_home(datum, effects);
  }
  wanted_ = open_ != 0;
}

void Flushes::wait_for_writer(Copy& copy, Datum& datum) noexcept {
  if (!copy.counts_for_flush || refreshing_) return;
  copy.counts_for_flush = false;
  datum.flush_when_written = true;
}

void Flushes::send_after_write(Datum& datum, Effects& effects) {
  datum.flush_when_written = false;
  join_or_send_home(datum, effects);
}

void Flushes::hand_over(Copy& copy, Copy& to) noexcept {
  to.counts_for_flush = std::exchange(copy.counts_for_flush.write(), false);
}

void Flushes::landed(Copy& copy) noexcept {
  if (std::exchange(copy.counts_for_flush.write(), false)) ended();
}

void Flushes::failed(Copy& copy, Effects& effects) {
  if (!std::exchange(copy.counts_for_flush.write(), false)) return;
  Datum& datum = state_.data[copy.datum];
  if (copy.cause == Cause::demand && datum.writers == 0)
    return send_home(datum, effects);  // the failed copy was a task's; the flush makes its own
  ended();
}

/// Uses the copy that is queued or in flight, or makes one.
void Flushes::join_or_send_home(Datum& datum, Effects& effects) {
  if (Copy* const coming = datum.home.arriving; coming != nullptr) {
    coming->counts_for_flush = true;
  } else {
    send_home(datum, effects);
  }
}

/// Starts the copy home of one open datum, or closes the datum if no copy is needed.
void Flushes::send_home(Datum& datum, Effects& effects) {
  Replica* const source = datum.dirty() ? state_.source_of(datum, datum.home.node) : nullptr;
  if (source == nullptr) return ended();
  Copy& copy = transfers_.make(*source, datum.home, Cause::flush);
  copy.counts_for_flush = true;
  transfers_.enqueue(copy, effects);
}

}  // namespace fairlead::memory
