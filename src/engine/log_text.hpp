// Encodes text in the words of a log: its length in bytes, then the bytes, eight per word.
#pragma once
#include <algorithm>
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include "engine/log_reader.hpp"

namespace fairlead::engine {

inline constexpr std::size_t longest_log_text = (1 << 10) - 1;  // longer text is truncated

inline void add_text(std::vector<std::uint64_t>& words, const std::string& text) {
  const std::size_t bytes = std::min(text.size(), longest_log_text);
  words.push_back(bytes);
  for (std::size_t i = 0; i < bytes; i += 8) {
    std::uint64_t word = 0;
    std::memcpy(&word, text.data() + i, std::min<std::size_t>(8, bytes - i));
    words.push_back(word);
  }
}

/// Throws InputError if there is no valid text.
inline std::string read_text(LogReader& log) {
  std::string text(log.word("length of a name", longest_log_text + 1), '\0');
  for (std::size_t i = 0; i < text.size(); i += 8) {
    const std::uint64_t word = log.word("a name");
    std::memcpy(text.data() + i, &word, std::min<std::size_t>(8, text.size() - i));
  }
  return text;
}

}  // namespace fairlead::engine
