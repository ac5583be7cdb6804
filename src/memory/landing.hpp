// What follows when a copy has ended: who has his data now, who has to ask again, what may leave, and what is
// tried once more (rules 3 to 6; coherence).
#pragma once
#include <exception>

#include "memory/evictor.hpp"
#include "memory/flushes.hpp"

namespace fairlead::memory {

class Landing {
 public:
  Landing(State& state, Coherence& coherence, Transfers& transfers, Evictor& evictor, Flushes& flushes)
      : state_(state), coherence_(coherence), transfers_(transfers), evictor_(evictor), flushes_(flushes) {}

  void landed(Copy& copy, bool succeeded, Effects& effects);
  /// The copy, which the world has not heard of, brings nothing, since an end of it is lost. Who waits for it gets a copy
  /// from somebody else, if anybody has what it was to bring.
  void comes_to_nothing(Copy& copy, Effects& effects);
  /// Those fail who wait for the value that it brings; not those who only wait until it is over. They wait until they
  /// are released, or until it is over if they work in homes.
  void fail_readers(Copy& copy, const std::exception_ptr& why, Effects& effects);

 private:
  /// The world has told, or will not hear, of it.
  void over(Copy& copy, Effects& effects);
  void arrived(Copy& copy, Effects& effects);
  void came_home(Copy& copy, Effects& effects);
  void failed(Copy& copy, Effects& effects);
  /// Once more, from somebody else if there is somebody.
  void try_again(Copy& copy, Effects& effects);
  /// Those who wait for what it should have brought fail; those who only waited until its source is read no
  /// more go on. True if one of them was to see the value at home.
  bool fail_waiters(Copy& copy, Effects& effects);
  std::exception_ptr failure_of(const Copy& copy) const;
  static void fail(Task& task, const std::exception_ptr& why, Effects& effects);
  /// A copy has ended, for which the task need not wait any more.
  static void wait_for_one_less(Task& task, Effects& effects);
  void serve_waiters(Copy& copy, Effects& effects);
  void ask_again(Replica& replica, Copy& copy, Effects& effects);
  /// What those wait for who were to have it handed on from there does not come.
  void ask_elsewhere(Replica& replica, Effects& effects);
  void settle_after(Replica& replica, DropReason unwanted);
  void left(Replica& replica);

  State& state_;
  Coherence& coherence_;
  Transfers& transfers_;
  Evictor& evictor_;
  Flushes& flushes_;
};

}  // namespace fairlead::memory
