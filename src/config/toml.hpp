// A TOML file as a tree of nodes with line numbers. Its own types, so that only one source file includes toml++.
#pragma once
#include <fairlead/no_value.hpp>

#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace fairlead::config {

struct TomlNode {
  using Other = NoValue;  ///< a date or a time, which no setting uses
  using List = std::vector<TomlNode>;
  struct Entry;
  using Table = std::vector<Entry>;  // in file order

  std::variant<Other, std::string, std::int64_t, double, bool, List, Table> value;
  std::uint32_t line = 0;

  template <class T>
  const T* as() const noexcept {
    return std::get_if<T>(&value);
  }
  /// The value of that key in a table; null if there is none, or if this is no table.
  const TomlNode* find(std::string_view key) const noexcept;
};

struct TomlNode::Entry {
  std::string key;
  TomlNode node;
};

/// Parses a file; its root is a table. Throws ConfigError with `file` and the line if it is not TOML.
TomlNode parse_toml(std::string_view text, std::string_view file);

}  // namespace fairlead::config
