// What follows when a copy has ended: who has his data now, who has to ask again, what may leave, and what is
// tried once more (rules 3 to 6; coherence).
#pragma once
#include <functional>
#include <string>

#include "memory/evictor.hpp"
#include "memory/flushes.hpp"

namespace fairlead::memory {

class Landing {
 public:
  Landing(State& state, Coherence& coherence, Transfers& transfers, Evictor& evictor, Flushes& flushes)
      : state_(state), coherence_(coherence), transfers_(transfers), evictor_(evictor), flushes_(flushes) {}

  /// How data are called in errors; else by their numbers.
  void name_by(std::function<std::string(DatumId)> name) { name_ = std::move(name); }
  void landed(Copy& copy, bool succeeded, Effects& effects);

 private:
  void arrived(Copy& copy, Effects& effects);
  void came_home(Copy& copy, Effects& effects);
  void failed(Copy& copy, Effects& effects);
  /// Once more, from somebody else if there is somebody.
  void try_again(Copy& copy, Effects& effects);
  /// Those who wait for what it should have brought fail; those who only waited until its source is read no
  /// more go on. True if one of them was to see the value at home.
  bool fail_waiters(Copy& copy, Effects& effects);
  void serve_waiters(Copy& copy, Effects& effects);
  void ask_again(Replica& replica, Copy& copy, Effects& effects);
  /// What those wait for who were to have it handed on from there does not come.
  void ask_elsewhere(Replica& replica, Effects& effects);
  void settle_after(Replica& replica, bool revoked);
  void left(Replica& replica);

  State& state_;
  Coherence& coherence_;
  Transfers& transfers_;
  Evictor& evictor_;
  Flushes& flushes_;
  std::function<std::string(DatumId)> name_;
};

}  // namespace fairlead::memory
