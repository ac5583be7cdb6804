// Small files below a root that tests can plant.
#include "machine/system_files.hpp"

#include <algorithm>
#include <charconv>
#include <fstream>
#include <sstream>

namespace fairlead::machine {

std::optional<std::string> SystemFiles::text(std::string_view path) const {
  std::ifstream stream(root_ / path.substr(path.starts_with('/') ? 1 : 0));
  std::ostringstream all;
  // Not `all << stream.rdbuf()` alone: opening a directory succeeds, reading it does not.
  if (!stream || !(all << stream.rdbuf())) return {};
  return std::move(all).str();
}

std::optional<std::uint64_t> SystemFiles::number(std::string_view path) const {
  const auto all = text(path);
  if (!all) return {};
  return to_number(std::string_view(*all).substr(0, all->find_last_not_of(" \n") + 1));
}

std::optional<std::uint64_t> SystemFiles::field(std::string_view path, std::string_view name) const {
  const auto all = text(path);
  if (!all) return {};
  for (std::string_view line : split(*all, '\n')) {
    if (!line.starts_with(name)) continue;
    line.remove_prefix(name.size());
    if (line.empty() || (line.front() != ' ' && line.front() != ':')) continue;
    line.remove_prefix(std::min(line.find_first_not_of(" :\t"), line.size()));
    const auto value = to_number(line.substr(0, line.find(' ')));
    if (value && line.ends_with(" kB")) return *value * 1024;
    return value;
  }
  return {};
}

std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = std::min(text.find(separator, begin), text.size());
    parts.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return parts;
}

std::optional<std::uint64_t> to_number(std::string_view text) {
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return {};
  return value;
}

}  // namespace fairlead::machine
