// Bringing values home: results, when the program wants them safe; and what lies in the program's own memory,
// where it finds the newest values after waiting.
#pragma once
#include <fairlead/ids.hpp>

#include <vector>

#include "data/task.hpp"
#include "memory/losses.hpp"

namespace fairlead::engine {

class RuntimeCore;
struct RegisteredDatum;

/// The application's thread.
class HomeValues {
 public:
  /// `kept_fresh`: waits bring the program's own memory up to date, where workers change it elsewhere.
  HomeValues(RuntimeCore& core, bool kept_fresh);

  /// Sends all results home and waits until they are there.
  void flush();
  /// Empties the caches of all that nobody uses and that its home holds as well.
  void drop_clean();
  /// Brings the newest values of data in the program's own memory there, and waits until they are: of these,
  /// or of all whose refresh is not put off. Values that a task is changing now are not waited for. Nothing
  /// happens where all workers use them in place.
  void refresh(std::vector<DatumId> data);
  void refresh(bool put_off_too = false);
  /// Whether refresh() may have anything to do: workers without access to the program's memory change data in
  /// memory of their own.
  bool may_be_away() const noexcept { return kept_fresh_; }
  void put_refresh_off(const RegisteredDatum& datum, bool put_off);
  /// A device is lost that had the newest value of something in the program's own memory, where the program may look now:
  /// throws a DeviceLostError. Nothing happens if that has been written or removed since. Of these data, or of all.
  void throw_if_lost(const std::vector<DatumId>& data);
  void throw_if_lost() { throw_if_lost(memory::Losses::Where::own_memory); }

 private:
  void throw_if_lost(memory::Losses::Where where);
  void tell(Event& event, EventKind kind);

  RuntimeCore& core_;
  const bool kept_fresh_;
  Event flush_event_;
  RefreshRequest refresh_event_;
};

}  // namespace fairlead::engine
