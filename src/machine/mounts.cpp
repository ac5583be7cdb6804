// See mounts.hpp.
#include "machine/mounts.hpp"

#include <algorithm>

namespace fairlead::machine {

namespace {

// Decodes octal escapes: blanks in paths are written as \040.
std::string unescape(std::string_view text) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto octal = [&](std::size_t k) {
      return i + k < text.size() && text[i + k] >= '0' && text[i + k] <= '7';
    };
    if (text[i] == '\\' && octal(1) && octal(2) && octal(3)) {
      out += static_cast<char>((text[i + 1] - '0') * 64 + (text[i + 2] - '0') * 8 + (text[i + 3] - '0'));
      i += 3;
    } else {
      out += text[i];
    }
  }
  return out;
}

}  // namespace

std::vector<Mount> read_mounts(const SystemFiles& files) {
  std::vector<Mount> found;
  const auto all = files.text("/proc/self/mountinfo");
  if (!all) return found;
  for (const std::string_view line : split(*all, '\n')) {
    // id parent major:minor root point options [optional fields] - type source super-options
    const auto words = split(line, ' ');
    const auto dash = std::ranges::find(words, std::string_view("-"));
    if (words.size() < 6 || words.end() - dash < 3) continue;
    found.push_back({.root = unescape(words[3]),
                     .point = unescape(words[4]),
                     .type = std::string(dash[1]),
                     .source = unescape(dash[2]),
                     .super_options = words.end() - dash > 3 ? std::string(dash[3]) : std::string()});
  }
  return found;
}

}  // namespace fairlead::machine
