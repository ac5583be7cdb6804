// Reads the words of an event log in sequence, and rejects invalid ones.
#pragma once
#include <fairlead/ids.hpp>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "machine/topology.hpp"

namespace fairlead::engine {

class LogReader {
 public:
  explicit LogReader(std::span<const std::uint64_t> words) noexcept : words_(words) {}

  bool at_end() const noexcept { return position_ == words_.size(); }
  std::size_t position() const noexcept { return position_; }
  /// The next word, which must be below `bound` (0: no bound). Throws InputError, as all functions below.
  std::uint64_t word(const char* what, std::uint64_t bound = 0);
  /// The next word, which must be the memory node of a device.
  NodeId device(const Topology& topology);
  /// The words from `begin` to the current position.
  std::span<const std::uint64_t> since(std::size_t begin) const noexcept {
    return words_.subspan(begin, position_ - begin);
  }
  /// Throws InputError naming the position.
  [[noreturn]] void refuse(const std::string& why) const;

 private:
  std::span<const std::uint64_t> words_;
  std::size_t position_ = 0;
};

}  // namespace fairlead::engine
