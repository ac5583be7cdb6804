// Numbers as people read them in reports and progress: few digits, the unit that suits the size.
#pragma once
#include <fairlead/ids.hpp>

#include <cstdint>
#include <string>
#include <string_view>

namespace fairlead::report {

/// "16,384".
std::string with_commas(std::uint64_t number);
/// Bytes that moved, in powers of 1000 as disks and links are sold: "2.61 GB", "43.1 MB", "812 B".
std::string moved_bytes(Bytes bytes);
/// "12.3 s", "841 ms", "12 us", "4 min 05 s", "2 h 07 min".
std::string readable_seconds(double seconds);
/// "0:07", "12:05", "1:02:45": hours, minutes, seconds, as on a clock.
std::string clock_time(double seconds);
/// Of a part in its whole: "94 %", "9.4 %", "0.52 %". "-" if there is no whole.
std::string percent(double part, double whole);
/// How many characters a person sees; a byte of UTF-8 that follows another is none.
std::size_t characters_of(std::string_view text);
/// How many times a bound was moved: "x 1.17". Nothing if there is no bound.
std::string ratio(Bytes measured, Bytes bound);

}  // namespace fairlead::report
