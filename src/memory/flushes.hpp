// Writes values back to their homes when the program asks: all data (a flush) or some data (a refresh). One flush or
// refresh at a time.
#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "memory/early_write_back.hpp"
#include "memory/transfers.hpp"

namespace fairlead::memory {

class Flushes {
 public:
  Flushes(State& state, Transfers& transfers)
      : state_(state), transfers_(transfers), early_(state, transfers) {}

  /// The tasks that are changing data.
  enum class Writers : std::uint8_t {
    awaited,  // they run: their versions are written back
    paused,   // none has started: the versions before them are written back
  };
  /// Writes back every datum whose newest version is not in its home. Complete when `under_way()` is false. While writers
  /// are paused, a datum that was being written back may still be dirty then.
  void flush(Effects& effects, Writers writers = Writers::awaited);
  /// Writes back the newest versions of these data, except those that a task is changing. Complete when `under_way()`
  /// is false.
  void refresh(std::span<const DatumId> data, Effects& effects);
  bool under_way() const noexcept { return wanted_; }
  /// True if some workers cannot reach user memory, so that homes there can be out of date.
  bool home_may_be_stale() const noexcept { return state_.away.possible(); }
  /// Data with a home in user memory whose newest version is elsewhere and that no task is changing. Data with a
  /// postponed refresh are included only if `put_off_too`.
  std::vector<DatumId> stale_homes(bool put_off_too) {
    return state_.away.stale_homes(state_.data, put_off_too);
  }
  /// Excludes the datum from stale_homes(), or includes it again.
  void put_off(DatumId id, bool put_off) noexcept { state_.data[id].refresh_put_off = put_off; }

  /// Write-backs ahead of a flush.
  EarlyWriteBack& early() noexcept { return early_; }
  const EarlyWriteBack& early() const noexcept { return early_; }

  // ---- events of copies to homes

  /// The copy has arrived at home, but a task is making a newer version. A flush waits for that, a refresh does not.
  void wait_for_writer(Copy& copy, Datum& datum) noexcept;
  /// A task that changed the datum has ended.
  void written(Datum& datum, Effects& effects) {
    if (datum.flush_when_written && datum.writers == 0) [[unlikely]]
      send_after_write(datum, effects);
  }
  /// The copy `to` carries a newer version; the flush waits for it instead.
  void hand_over(Copy& copy, Copy& to) noexcept;
  /// The copy has arrived in the home.
  void landed(Copy& copy) noexcept;
  /// The copy failed for good; the flush tries once more if the copy was a task's.
  void failed(Copy& copy, Effects& effects);

 private:
  void send_after_write(Datum& datum, Effects& effects);
  void join_or_send_home(Datum& datum, Effects& effects);
  void send_home(Datum& datum, Effects& effects);
  void ended() noexcept {
    if (--open_ == 0) wanted_ = false;
  }

  State& state_;
  Transfers& transfers_;
  EarlyWriteBack early_;
  bool wanted_ = false;
  bool refreshing_ = false;  // the open operation waits for no task
  std::size_t open_ = 0;     // data whose copies the flush waits for
};

}  // namespace fairlead::memory
