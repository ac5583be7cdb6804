// TOML as a tree of nodes that know their line. So only one source file includes the library that reads it.
#pragma once
#include <fairlead/no_value.hpp>

#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace fairlead::config {

struct TomlNode {
  using Other = NoValue;  ///< a date or a time, which no setting is
  using List = std::vector<TomlNode>;
  struct Entry;
  using Table = std::vector<Entry>;  // in the order of the file

  std::variant<Other, std::string, std::int64_t, double, bool, List, Table> value;
  std::uint32_t line = 0;

  template <class T>
  const T* as() const noexcept {
    return std::get_if<T>(&value);
  }
  /// Of a table; null if there is none of that key.
  const TomlNode* find(std::string_view key) const noexcept;
};

struct TomlNode::Entry {
  std::string key;
  TomlNode node;
};

/// A whole file, which is a table. Throws ConfigError with `file` and the line if it is not TOML.
TomlNode parse_toml(std::string_view text, std::string_view file);

}  // namespace fairlead::config
