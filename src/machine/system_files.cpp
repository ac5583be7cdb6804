// See system_files.hpp.
#include "machine/system_files.hpp"

#include <algorithm>
#include <charconv>

#include "base/file_descriptor.hpp"

namespace fairlead::machine {

namespace {
#if defined(__SANITIZE_THREAD__)
constexpr std::size_t sanitizers_threads = 1;
#elif defined(__has_feature)
constexpr std::size_t sanitizers_threads = __has_feature(thread_sanitizer) ? 1 : 0;
#else
constexpr std::size_t sanitizers_threads = 0;
#endif
}  // namespace

std::optional<std::string> SystemFiles::text(std::string_view path) const {
  auto all = read_file(root_ / path.substr(path.starts_with('/') ? 1 : 0));
  if (all && all->empty()) all.reset();
  return all;
}

std::optional<std::uint64_t> SystemFiles::number(std::string_view path) const {
  const auto all = text(path);
  if (!all) return {};
  return parse_number(std::string_view(*all).substr(0, all->find_last_not_of(" \n") + 1));
}

std::optional<std::uint64_t> SystemFiles::field(std::string_view path, std::string_view name) const {
  const auto all = text(path);
  return all ? field_of(*all, name) : std::nullopt;
}

std::optional<std::uint64_t> field_of(std::string_view text, std::string_view name) {
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    std::string_view line = text.substr(begin, end - begin);
    begin = end + 1;
    if (!line.starts_with(name)) continue;
    line.remove_prefix(name.size());
    if (line.empty() || (line.front() != ' ' && line.front() != ':')) continue;
    line.remove_prefix(std::min(line.find_first_not_of(" :\t"), line.size()));
    const auto value = parse_number(line.substr(0, line.find(' ')));
    if (value && line.ends_with(" kB")) return *value * 1024;
    return value;
  }
  return {};
}

std::size_t thread_count() {
  const std::size_t threads = SystemFiles().field("/proc/self/status", "Threads").value_or(1);
  return threads > 1 + sanitizers_threads ? threads - sanitizers_threads : 1;
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

std::string_view trim(std::string_view text) {
  const auto begin = text.find_first_not_of(" \t\n"), end = text.find_last_not_of(" \t\n");
  return begin == std::string_view::npos ? std::string_view() : text.substr(begin, end + 1 - begin);
}

std::optional<std::uint64_t> parse_number(std::string_view text) {
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return {};
  return value;
}

}  // namespace fairlead::machine
