// Numbers for display in reports and progress: few digits, with a suitable unit.
#pragma once
#include <fairlead/ids.hpp>

#include <cstdint>
#include <string>
#include <string_view>

namespace fairlead::report {

/// "16,384".
std::string with_commas(std::uint64_t number);
/// Transferred bytes, in powers of 1000 as is usual for disks and links: "2.61 GB", "43.1 MB", "812 B".
std::string moved_bytes(Bytes bytes);
/// "12.3 s", "841 ms", "12 us", "4 min 05 s", "2 h 07 min".
std::string readable_seconds(double seconds);
/// "0:07", "12:05", "1:02:45": hours, minutes, seconds.
std::string clock_time(double seconds);
/// The ratio of a part to the whole: "94 %", "9.4 %", "0.52 %". "-" if the whole is 0.
std::string percent(double part, double whole);
/// The number of visible characters: bytes that are not UTF-8 continuation bytes.
std::size_t characters_of(std::string_view text);
/// The ratio to a bound: "x 1.17". Empty if the bound is 0.
std::string ratio(Bytes measured, Bytes bound);

}  // namespace fairlead::report
