// TOML as a tree of nodes that know their line. So only one source file includes the library that reads it.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace fairlead::config {

struct TomlNode {
  struct Other {};  ///< a date or a time: nobody here wants one
  using List = std::vector<TomlNode>;
  using Table = std::vector<std::pair<std::string, TomlNode>>;  // in the order of the file

  std::variant<Other, std::string, std::int64_t, double, bool, List, Table> value;
  std::uint32_t line = 0;

  template <class T>
  const T* as() const noexcept {
    return std::get_if<T>(&value);
  }
  /// Of a table; null if there is none of that key.
  const TomlNode* find(std::string_view key) const noexcept;
};

/// A whole file, which is a table. Throws ConfigError with `file` and the line if it is not TOML.
TomlNode parse_toml(std::string_view text, std::string_view file);

}  // namespace fairlead::config
