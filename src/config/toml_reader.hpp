// One table of a TOML file, read key by key: what has the wrong type or is out of range is refused, and so is
// what nobody has asked for.
#pragma once
#include <fairlead/ids.hpp>
#include <fairlead/setting.hpp>

#include <initializer_list>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/time.hpp"
#include "config/toml.hpp"

namespace fairlead::config {

/// Everything throws ConfigError with file, line, key, and what would be right.
class TomlReader {
 public:
  /// `what`: the table, for messages: "a [[device]]". Node and file outlive it.
  TomlReader(const TomlNode& table, std::string_view file, std::string what)
      : table_(table), file_(file), what_(std::move(what)) {}

  [[noreturn]] void fail(std::string_view key, const std::string& why) const;
  bool has(std::string_view key);
  std::string text(std::string_view key);
  std::string text_or(std::string_view key, std::string otherwise) {
    return has(key) ? text(key) : otherwise;
  }
  bool flag_or(std::string_view key, bool otherwise);
  double number(std::string_view key, double least, double most);
  double number_or(std::string_view key, double otherwise, double least, double most) {
    return has(key) ? number(key, least, most) : otherwise;
  }
  std::size_t count(std::string_view key, std::size_t least, std::size_t most);
  std::size_t count_or(std::string_view key, std::size_t otherwise, std::size_t least, std::size_t most) {
    return has(key) ? count(key, least, most) : otherwise;
  }
  Bytes size(std::string_view key);
  double bandwidth(std::string_view key);
  Duration microseconds(std::string_view key) {
    return Duration(static_cast<std::int64_t>(number(key, 0, 1e9) * 1e3));
  }
  Duration microseconds_or(std::string_view key, double otherwise) {
    return Duration(static_cast<std::int64_t>(number_or(key, otherwise, 0, 1e9) * 1e3));
  }
  /// Empty if the key is not there.
  std::vector<std::string> texts(std::string_view key);
  std::vector<double> numbers(std::string_view key);
  /// Lists of two numbers each; `wanted`: what is said if they are not.
  std::vector<std::pair<double, double>> pairs(std::string_view key, const char* wanted);

  /// Calls f(TomlReader&) for each table of the list `key`, if it is there.
  template <class F>
  void each(std::string_view key, F&& f) {
    for (const TomlNode* one : tables(key)) read(*one, "a [[" + std::string(key) + "]]", f);
  }
  /// Calls f(TomlReader&) for the table of that name, if it is there.
  template <class F>
  void table(std::string_view key, F&& f) {
    if (const TomlNode* one = inner_table(key)) read(*one, "[" + std::string(key) + "]", f);
  }
  /// In the order of the file.
  std::vector<std::string> keys() const;
  /// These will be asked for: others are refused now, before what they were meant to be is said to be
  /// missing.
  void expect(std::initializer_list<std::string_view> keys);
  void require_all_known() const;

 private:
  const TomlNode& node(std::string_view key);
  const TomlNode::List& list(std::string_view key, const char* wanted);
  double number_of(const TomlNode& one, std::string_view key, double least, double most) const;
  std::uint64_t quantity(std::string_view key, SettingType type, std::string_view wanted);
  std::vector<const TomlNode*> tables(std::string_view key);
  const TomlNode* inner_table(std::string_view key);
  template <class F>
  void read(const TomlNode& one, std::string what, F&& f) {
    TomlReader reader(one, file_, std::move(what));
    f(reader);
    reader.require_all_known();
  }

  const TomlNode& table_;
  std::string_view file_;
  std::string what_;
  std::set<std::string, std::less<>> known_;
};

}  // namespace fairlead::config
