// Moves values to their homes: flush() for results, refresh() for data in the program's own memory, so that the program
// sees the newest values after waiting.
#pragma once
#include <fairlead/ids.hpp>

#include <vector>

#include "data/task.hpp"
#include "memory/losses.hpp"

namespace fairlead::engine {

class RuntimeCore;
struct RegisteredDatum;

/// Used by the application's thread only.
class HomeValues {
 public:
  /// `kept_fresh`: waits update the program's own memory, because workers change its data elsewhere.
  HomeValues(RuntimeCore& core, bool kept_fresh);

  /// Writes all results to their homes and waits for completion.
  void flush();
  /// Discards all unused replicas whose home has the same value.
  void drop_clean();
  /// Updates data in the program's own memory to their newest values and waits for completion: these data, or all whose
  /// refresh is not put off. Does not wait for values that a task is changing now. Does nothing if all workers use the
  /// data in place, or after wind_down(). Throws the error that stopped the run, if any; then the program's memory may
  /// be out of date. Another error (out of memory) stops the run.
  void refresh(std::vector<DatumId> data);
  void refresh(bool put_off_too = false);
  /// Whether refresh() may have work: workers change data in memories other than the program's.
  bool may_be_away() const noexcept { return kept_fresh_; }
  void put_refresh_off(const RegisteredDatum& datum, bool put_off);
  /// Throws DeviceLostError if a lost device had the newest value of a datum in the program's own memory: of these
  /// data, or of all. Does not throw if the datum has been written or removed since.
  void throw_if_lost(const std::vector<DatumId>& data);
  void throw_if_lost() { throw_if_lost(memory::Losses::Where::own_memory); }

 private:
  void throw_if_lost(memory::Losses::Where where);
  bool can_refresh();
  template <class Refresh>
  void stopping_on_failure(const Refresh& refresh);
  void write_back(std::vector<DatumId> data);
  void serve(Event& event, EventKind kind);

  RuntimeCore& core_;
  const bool kept_fresh_;
  Event flush_event_;
  RefreshRequest refresh_event_;
};

}  // namespace fairlead::engine
