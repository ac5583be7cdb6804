// Deliberate mistakes of an endpoint, with which tests prove that they would detect them; see also
// base/deliberate_mistake.hpp.
#pragma once
#include <cstdint>

namespace fairlead::net {

enum class ProtocolMistake : std::uint8_t {
  none,
  early_message_lost,      // messages before their graph are dropped
  request_ignored,         // some requests get no reply
  answered_unread,         // a payload is sent before the value is readable
  left_too_early,          // a value counts as sent after its first payload
  left_never,              // the end of sending is never reported
  arrived_too_early,       // a value counts as arrived when it is requested
  arrived_twice,           // an arrival is reported twice
  other_output_arrived,    // the outputs of a task are mixed up
  tag_used_again,          // two payloads in flight from a rank have the same tag
  branch_forgotten,        // a rank does not pass a value on
  visitors_not_counted,    // memory for values in transit is unlimited
  any_number_of_visitors,  // their number is unlimited
  credit_not_counted,      // eager values ignore the credit
  credit_not_given_back,   // consumed credit is not returned
  early_offer_lost,        // an offer before its value has a place is dropped
  offer_not_kept,          // an offered value may be released at once, with its mark
  offers_not_counted,      // offered values are unlimited
  read_not_acknowledged,   // the read of an offered value is not acknowledged
  failed_read_accepted,    // a failed read counts as arrived
  failure_kept,            // a failure is not reported to other ranks
};

class DeliberateProtocolMistake {
 public:
#ifdef FAIRLEAD_DELIBERATE_MISTAKES
  constexpr DeliberateProtocolMistake(ProtocolMistake made = ProtocolMistake::none) noexcept : made_(made) {}
  /// Not inlined, so that `nm` finds it wherever a mistake can be made.
  [[gnu::noinline]] bool is(ProtocolMistake mistake) const noexcept { return made_ == mistake; }

 private:
  ProtocolMistake made_;
#else
  static constexpr bool is(ProtocolMistake) noexcept { return false; }
#endif
};

}  // namespace fairlead::net
