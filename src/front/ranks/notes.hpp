// Control messages between ranks as bytes: a kind, then numbers and texts. All ranks have the same version and byte
// order.
#pragma once
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace fairlead::front {

class NoteWriter {
 public:
  explicit NoteWriter(std::uint8_t kind) { bytes_.push_back(std::byte{kind}); }
  NoteWriter& number(std::uint64_t value) {
    const auto* const begin = reinterpret_cast<const std::byte*>(&value);
    bytes_.insert(bytes_.end(), begin, begin + sizeof value);
    return *this;
  }
  NoteWriter& text(std::string_view value) {
    number(value.size());
    const auto* const begin = reinterpret_cast<const std::byte*>(value.data());
    bytes_.insert(bytes_.end(), begin, begin + value.size());
    return *this;
  }
  std::vector<std::byte> taken() { return std::move(bytes_); }

 private:
  std::vector<std::byte> bytes_;
};

/// Reads a note without its kind. Past the end, it returns zeros and empty texts.
class NoteReader {
 public:
  explicit NoteReader(std::span<const std::byte> of) : rest_(of) {}
  std::uint64_t number() {
    std::uint64_t value = 0;
    if (rest_.size() < sizeof value) return 0;
    std::memcpy(&value, rest_.data(), sizeof value);
    rest_ = rest_.subspan(sizeof value);
    return value;
  }
  std::string text() {
    const auto size = std::min<std::size_t>(number(), rest_.size());
    const std::string found(reinterpret_cast<const char*>(rest_.data()), size);
    rest_ = rest_.subspan(size);
    return found;
  }

 private:
  std::span<const std::byte> rest_;
};

}  // namespace fairlead::front
