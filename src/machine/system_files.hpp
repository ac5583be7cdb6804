// Reads what the kernel tells in files of /proc and /sys. The root can be a planted tree, so that tests show
// machines that are not there.
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

  /// Nothing if the file cannot be read. `path` is absolute, as in "/proc/meminfo".
  std::optional<std::string> text(std::string_view path) const;
  /// A file that holds one number; nothing if it holds something else ("max", "-1").
  std::optional<std::uint64_t> number(std::string_view path) const;
  /// The number after `name` in a file of lines "name number" or "name: number kB" (then in bytes).
  std::optional<std::uint64_t> field(std::string_view path, std::string_view name) const;

 private:
  std::filesystem::path root_;
};

/// Of this process, as the kernel counts them; 1 if it does not tell.
std::size_t threads_of_process();

std::vector<std::string_view> split(std::string_view text, char separator);
/// Without blanks and ends of lines around it.
std::string_view trimmed(std::string_view text);
std::optional<std::uint64_t> to_number(std::string_view text);

}  // namespace fairlead::machine
