// Reads files of /proc and /sys. Tests use another root directory to simulate other machines.
#pragma once
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace fairlead::machine {

class SystemFiles {
 public:
  explicit SystemFiles(std::filesystem::path root = "/") : root_(std::move(root)) {}

  /// The text of a file; nothing if it cannot be read or is empty. `path` is absolute, as in "/proc/meminfo".
  std::optional<std::string> text(std::string_view path) const;
  /// The content of a file with a single number; nothing for any other content ("max", "-1").
  std::optional<std::uint64_t> number(std::string_view path) const;
  /// The number after `name` in a file with lines "name number" or "name: number kB" (converted to bytes).
  std::optional<std::uint64_t> field(std::string_view path, std::string_view name) const;

 private:
  std::filesystem::path root_;
};

/// The number after `name` in such lines of a text.
std::optional<std::uint64_t> field_of(std::string_view text, std::string_view name);

/// The number of threads of this process, except that of ThreadSanitizer; 1 if unknown.
std::size_t thread_count();

std::vector<std::string_view> split(std::string_view text, char separator);
/// Without blanks and line ends at both sides.
std::string_view trim(std::string_view text);
std::optional<std::uint64_t> parse_number(std::string_view text);

}  // namespace fairlead::machine
