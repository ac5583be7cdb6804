// What the program wants to be safe in its homes: all of it (a flush), or some of it (a refresh). One at a
// time.
#pragma once
#include <span>
#include <vector>

#include "memory/homeward.hpp"
#include "memory/transfers.hpp"

namespace fairlead::memory {

class Flushes {
 public:
  Flushes(State& state, Transfers& transfers)
      : state_(state), transfers_(transfers), early_(state, transfers) {}

  /// Sends every datum home whose newest version is not there. Done when `under_way()` turns false.
  void flush(Effects& effects);
  /// Sends the newest versions of these home, as far as no task is changing them: it is not waited for. Done
  /// when `under_way()` turns false.
  void refresh(std::span<const DatumId> data, Effects& effects);
  bool under_way() const noexcept { return wanted_; }
  /// Some workers change data of the program's own memory elsewhere, since they do not reach it.
  bool homes_may_be_old() const noexcept { return state_.away.possible(); }
  /// Data in the program's own memory whose newest version is elsewhere, and that no task is changing. Those
  /// whose refresh is put off are left out unless these are asked for, too.
  std::vector<DatumId> away_from_home(bool put_off_too) { return state_.away.now(state_.data, put_off_too); }
  /// Whether away_from_home() is to tell of the datum.
  void put_off(DatumId id, bool put_off) noexcept { state_.data[id].refresh_put_off = put_off; }

  /// What goes home before anybody asks.
  Homeward& early() noexcept { return early_; }
  const Homeward& early() const noexcept { return early_; }

  // ---- what happened to copies home

  /// The datum is home, but a newer version is being made. A flush waits for that, a refresh does not.
  void wait_for_writer(Copy& copy, Datum& datum) noexcept;
  /// A task has ended that changed it.
  void written(Datum& datum, Effects& effects) {
    if (datum.flush_when_written && datum.writers == 0) [[unlikely]]
      send_after_write(datum, effects);
  }
  /// Another copy brings what is newer than what this one has brought.
  void hand_over(Copy& copy, Copy& to) noexcept;
  void landed(Copy& copy) noexcept;
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
  Homeward early_;
  bool wanted_ = false;
  bool refreshing_ = false;  // what is open is a refresh: it waits for no task
  std::size_t open_ = 0;     // data
};

}  // namespace fairlead::memory
