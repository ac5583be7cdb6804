// See toml_reader.hpp.
#include "config/toml_reader.hpp"

#include <fmt/format.h>
#include <fairlead/error.hpp>

#include <limits>

#include "base/suggest.hpp"
#include "config/value.hpp"

namespace fairlead::config {

void TomlReader::fail(std::string_view key, const std::string& why) const {
  const TomlNode* node = table_.find(key);
  throw ConfigError(
      fmt::format("{}:{}: {} of {} {}", file_, node != nullptr ? node->line : table_.line, key, what_, why));
}

bool TomlReader::contains(std::string_view key) {
  known_.emplace(key);
  return table_.find(key) != nullptr;
}

const TomlNode& TomlReader::node(std::string_view key) {
  if (contains(key)) return *table_.find(key);
  std::vector<std::string_view> others;
  const std::vector<std::string> all = keys();
  for (const std::string& other : all)
    if (!known_.contains(other)) others.push_back(other);
  const std::string_view near = nearest(key, others);
  fail(key, near.empty()
                ? "is missing"
                : fmt::format("is missing; is it what line {} calls \"{}\"?", table_.find(near)->line, near));
}

std::string TomlReader::string(std::string_view key) {
  const auto* value = node(key).as<std::string>();
  if (value == nullptr) fail(key, "must be a string");
  return *value;
}

bool TomlReader::bool_or(std::string_view key, bool otherwise) {
  if (!contains(key)) return otherwise;
  const auto* value = node(key).as<bool>();
  if (value == nullptr) fail(key, "must be true or false");
  return *value;
}

double TomlReader::number_of(const TomlNode& one, std::string_view key, double least, double most) const {
  const auto* whole = one.as<std::int64_t>();
  const auto* number = one.as<double>();
  const double value = whole != nullptr    ? static_cast<double>(*whole)
                       : number != nullptr ? *number
                                           : std::numeric_limits<double>::quiet_NaN();
  if (!(value >= least && value <= most))
    fail(key, fmt::format("must be a number from {} to {}", least, most));
  return value;
}

double TomlReader::number(std::string_view key, double least, double most) {
  return number_of(node(key), key, least, most);
}

std::size_t TomlReader::count(std::string_view key, std::size_t least, std::size_t most) {
  const auto* value = node(key).as<std::int64_t>();
  if (value == nullptr || *value < static_cast<std::int64_t>(least) ||
      *value > static_cast<std::int64_t>(most))
    fail(key, fmt::format("must be a whole number from {} to {}", least, most));
  return static_cast<std::size_t>(*value);
}

std::uint64_t TomlReader::quantity(std::string_view key, SettingType type, std::string_view wanted) {
  const Setting setting{.key = key, .type = type, .minimum = type == SettingType::size ? "1" : "1B/s"};
  const std::string written = string(key);
  const ParsedValue reading = parse_value(setting, written);
  if (!reading.error.empty()) fail(key, fmt::format("is \"{}\", but must be {}", written, wanted));
  return std::get<std::uint64_t>(reading.value);
}

Bytes TomlReader::size(std::string_view key) {
  return quantity(key, SettingType::size, "a size such as \"32GB\"");
}

double TomlReader::bandwidth(std::string_view key) {
  return static_cast<double>(quantity(key, SettingType::bandwidth, "a bandwidth such as \"12GB/s\""));
}

const TomlNode::List& TomlReader::list(std::string_view key, const char* wanted) {
  const auto* all = node(key).as<TomlNode::List>();
  if (all == nullptr) fail(key, wanted);
  return *all;
}

std::vector<std::string> TomlReader::strings(std::string_view key) {
  constexpr const char* wanted = "must be a list of strings";
  std::vector<std::string> all;
  if (!contains(key)) return all;
  for (const TomlNode& one : list(key, wanted)) {
    if (one.as<std::string>() == nullptr) fail(key, wanted);
    all.push_back(*one.as<std::string>());
  }
  return all;
}

std::vector<double> TomlReader::numbers(std::string_view key) {
  std::vector<double> all;
  if (!contains(key)) return all;
  for (const TomlNode& one : list(key, "must be a list of numbers"))
    all.push_back(number_of(one, key, -1e18, 1e18));
  return all;
}

std::vector<std::pair<double, double>> TomlReader::pairs(std::string_view key, const char* wanted) {
  std::vector<std::pair<double, double>> all;
  for (const TomlNode& one : list(key, wanted)) {
    const auto* two = one.as<TomlNode::List>();
    if (two == nullptr || two->size() != 2) fail(key, wanted);
    const auto one_of_them = [&](const TomlNode& number) {
      if (number.as<std::int64_t>() == nullptr && number.as<double>() == nullptr) fail(key, wanted);
      return number_of(number, key, 0, 1e18);
    };
    all.emplace_back(one_of_them((*two)[0]), one_of_them((*two)[1]));
  }
  return all;
}

std::vector<const TomlNode*> TomlReader::tables(std::string_view key) {
  std::vector<const TomlNode*> all;
  if (!contains(key)) return all;
  const std::string wanted = fmt::format("must be tables, each headed [[{}]] or in a list of {{ ... }}", key);
  for (const TomlNode& one : list(key, wanted.c_str())) {
    if (one.as<TomlNode::Table>() == nullptr) fail(key, wanted);
    all.push_back(&one);
  }
  return all;
}

const TomlNode* TomlReader::inner_table(std::string_view key) {
  if (!contains(key)) return nullptr;
  const TomlNode& inner = node(key);
  if (inner.as<TomlNode::Table>() == nullptr) fail(key, fmt::format("must be a table, headed [{}]", key));
  return &inner;
}

std::vector<std::string> TomlReader::keys() const {
  std::vector<std::string> all;
  if (const auto* table = table_.as<TomlNode::Table>())
    for (const auto& [key, value] : *table) all.push_back(key);
  return all;
}

void TomlReader::declare_keys(std::initializer_list<std::string_view> keys) {
  for (const std::string_view key : keys) known_.emplace(key);
  reject_unknown_keys();
}

void TomlReader::reject_unknown_keys() const {
  const std::vector<std::string_view> known(known_.begin(), known_.end());
  for (const std::string& key : keys())
    if (!known_.contains(key))
      throw ConfigError(fmt::format("{}:{}: {} has no key \"{}\"{}; its keys are {}", file_,
                                    table_.find(key)->line, what_, key, did_you_mean(key, known),
                                    fmt::join(known, ", ")));
}

}  // namespace fairlead::config
