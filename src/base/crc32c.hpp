// The checksum CRC-32C (RFC 3720, Castagnoli), which formats of files prescribe.
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>

namespace fairlead {

std::uint32_t crc32c(std::span<const std::byte> bytes) noexcept;

}  // namespace fairlead
