// Sizes in bytes: 512_MiB.
#pragma once
#include <fairlead/ids.hpp>

namespace fairlead {
inline namespace literals {

constexpr Bytes operator""_KiB(unsigned long long number) noexcept { return Bytes{number} << 10; }
constexpr Bytes operator""_MiB(unsigned long long number) noexcept { return Bytes{number} << 20; }
constexpr Bytes operator""_GiB(unsigned long long number) noexcept { return Bytes{number} << 30; }

}  // namespace literals
}  // namespace fairlead
