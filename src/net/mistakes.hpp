// Mistakes that an endpoint makes on purpose, so that tests can show that they would be noticed: as those of memory
// and engine (base/deliberate_mistake.hpp).
#pragma once
#include <cstdint>

namespace fairlead::net {

enum class Mistake : std::uint8_t {
  none,
  early_message_lost,      // what comes before its graph is dropped
  request_ignored,         // now and then one is not answered
  answered_unread,         // a payload is sent before the value may be read
  left_too_early,          // a value counts as sent when its first payload has left
  left_never,              // nobody is told that it has
  landed_too_early,        // a value counts as there when it was asked for
  landed_twice,            // it is told twice
  other_output_landed,     // the outputs of a task are mixed up
  tag_used_again,          // two payloads under way from a rank have the same tag
  branch_forgotten,        // who has a value does not pass it on
  visitors_not_counted,    // places are looked for however much memory values under way take
  any_number_of_visitors,  // and however many they are
  credit_not_counted,      // values travel along whether there is room or not
  credit_not_given_back,   // room that is free again is not told of
  early_offer_lost,        // an offer that comes before what it is for has a place is dropped
  offer_not_kept,          // what is offered may go at once, and its mark stays
  offers_not_counted,      // values are offered however many are
  taking_not_told,         // nobody hears that an offered value was taken
  failed_copy_landed,      // a value counts as there although it could not be read
  failure_kept,            // the others are not told of a failure
};

class DeliberateMistake {
 public:
#ifdef FAIRLEAD_DELIBERATE_MISTAKES
  constexpr DeliberateMistake(Mistake made = Mistake::none) noexcept : made_(made) {}
  /// Not inlined: `nm` finds it wherever a mistake can be made.
  [[gnu::noinline]] bool is(Mistake mistake) const noexcept { return made_ == mistake; }

 private:
  Mistake made_;
#else
  static constexpr bool is(Mistake) noexcept { return false; }
#endif
};

}  // namespace fairlead::net
