// Reads one table of a TOML file, key by key. A wrong type, a value out of range, and a key that was never read are
// errors.
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

/// All functions throw ConfigError with file, line, key, and the expected value.
class TomlReader {
 public:
  /// `what` names the table in messages: "a [[device]]". Node and file must outlive the reader.
  TomlReader(const TomlNode& table, std::string_view file, std::string what)
      : table_(table), file_(file), what_(std::move(what)) {}

  [[noreturn]] void fail(std::string_view key, const std::string& why) const;
  bool contains(std::string_view key);
  std::string string(std::string_view key);
  std::string text_or(std::string_view key, std::string otherwise) {
    return contains(key) ? string(key) : otherwise;
  }
  bool bool_or(std::string_view key, bool otherwise);
  double number(std::string_view key, double least, double most);
  double number_or(std::string_view key, double otherwise, double least, double most) {
    return contains(key) ? number(key, least, most) : otherwise;
  }
  std::size_t count(std::string_view key, std::size_t least, std::size_t most);
  std::size_t count_or(std::string_view key, std::size_t otherwise, std::size_t least, std::size_t most) {
    return contains(key) ? count(key, least, most) : otherwise;
  }
  Bytes size(std::string_view key);
  double bandwidth(std::string_view key);
  Duration microseconds(std::string_view key) {
    return Duration(static_cast<std::int64_t>(number(key, 0, 1e9) * 1e3));
  }
  Duration microseconds_or(std::string_view key, double otherwise) {
    return Duration(static_cast<std::int64_t>(number_or(key, otherwise, 0, 1e9) * 1e3));
  }
  /// Empty if the key is missing.
  std::vector<std::string> strings(std::string_view key);
  std::vector<double> numbers(std::string_view key);
  /// A list of pairs of numbers; `wanted` is the error message for anything else.
  std::vector<std::pair<double, double>> pairs(std::string_view key, const char* wanted);

  /// Calls f(TomlReader&) for each table of the list `key`, if it exists.
  template <class F>
  void each(std::string_view key, F&& f) {
    for (const TomlNode* one : tables(key)) read(*one, "a [[" + std::string(key) + "]]", f);
  }
  /// Calls f(TomlReader&) for the table of that name, if it exists.
  template <class F>
  void table(std::string_view key, F&& f) {
    if (const TomlNode* one = inner_table(key)) read(*one, "[" + std::string(key) + "]", f);
  }
  /// In file order.
  std::vector<std::string> keys() const;
  /// Declares all valid keys and rejects any other one now: a misspelled key is reported as such, and not as missing.
  void declare_keys(std::initializer_list<std::string_view> keys);
  void reject_unknown_keys() const;

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
    reader.reject_unknown_keys();
  }

  const TomlNode& table_;
  std::string_view file_;
  std::string what_;
  std::set<std::string, std::less<>> known_;
};

}  // namespace fairlead::config
