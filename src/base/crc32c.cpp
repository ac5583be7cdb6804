// Eight bytes at a time, by tables.
#include "base/crc32c.hpp"

#include <array>
#include <cstring>

namespace fairlead {
namespace {

/// Entry [k][byte]: the checksum of that byte with k zero bytes behind it.
using CrcTables = std::array<std::array<std::uint32_t, 256>, 8>;

constexpr CrcTables make_crc_tables() {
  constexpr std::uint32_t polynomial = 0x82f63b78;  // of Castagnoli, lowest bit first
  CrcTables tables{};
  for (std::uint32_t byte = 0; byte < 256; ++byte) {
    std::uint32_t sum = byte;
    for (int bit = 0; bit < 8; ++bit) sum = (sum >> 1) ^ ((sum & 1) != 0 ? polynomial : 0);
    tables[0][byte] = sum;
  }
  for (std::size_t k = 1; k < tables.size(); ++k)
    for (std::size_t byte = 0; byte < 256; ++byte)
      tables[k][byte] = (tables[k - 1][byte] >> 8) ^ tables[0][tables[k - 1][byte] & 0xff];
  return tables;
}
constexpr CrcTables crc_tables = make_crc_tables();

}  // namespace

std::uint32_t crc32c(std::span<const std::byte> bytes) noexcept {
  std::uint32_t sum = ~std::uint32_t{0};
  while (bytes.size() >= crc_tables.size()) {
    std::array<std::uint8_t, 8> eight;
    std::memcpy(eight.data(), bytes.data(), eight.size());
    for (std::size_t i = 0; i < 4; ++i) eight[i] ^= static_cast<std::uint8_t>(sum >> (8 * i));
    sum = 0;
    for (std::size_t i = 0; i < eight.size(); ++i) sum ^= crc_tables[7 - i][eight[i]];
    bytes = bytes.subspan(eight.size());
  }
  for (const std::byte byte : bytes)
    sum = (sum >> 8) ^ crc_tables[0][(sum ^ std::to_integer<std::uint32_t>(byte)) & 0xff];
  return ~sum;
}

}  // namespace fairlead
