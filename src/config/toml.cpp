// The only source file that includes toml++.
#include "config/toml.hpp"

#include <fmt/format.h>
#include <fairlead/error.hpp>

#include <algorithm>
#include <functional>
#include <vector>

namespace {
// Some invalid texts ("[[[") violate assertions of toml++. Throw an exception instead of aborting, or, with NDEBUG,
// instead of undefined behavior.
struct BrokenAssumption {};
[[noreturn]] void assumption_broken() { throw BrokenAssumption(); }
}  // namespace
#define TOML_ASSERT(expression) ((expression) ? void() : assumption_broken())
#undef NDEBUG  // with it, toml++ turns the assertions into compiler assumptions
// toml++ is recursive: limit the nesting so that any stack suffices.
#define TOML_MAX_NESTED_VALUES 32
#include <toml++/toml.h>

namespace fairlead::config {

namespace {

constexpr std::size_t most_dots = 32;  // in a key; each dot nests a table

std::size_t line_of(std::string_view text, std::size_t place) {
  return 1 + static_cast<std::size_t>(std::ranges::count(text.substr(0, place), '\n'));
}

/// The end of the string that starts with a quotation mark at `begin`.
std::size_t end_of_string(std::string_view text, std::size_t begin) {
  const char mark = text[begin];
  const std::string three(3, mark);
  const std::string_view closing = text.substr(begin, 3) == three ? three : std::string_view(three).substr(2);
  for (std::size_t at = begin + closing.size(); at < text.size(); ++at) {
    if (text.substr(at, closing.size()) == closing) {
      at += closing.size();
      if (closing.size() == 3)  // up to two quotation marks may precede the closing three
        for (int i = 0; i < 2 && at < text.size() && text[at] == mark; ++i) ++at;
      return at;
    }
    if (mark == '"' && text[at] == '\\')
      ++at;
    else if (text[at] == '\n' && closing.size() == 1)
      return at;
  }
  return text.size();
}

/// Throws ConfigError for a key with too many dots, before parsing: toml++ limits the depth of values only.
void refuse_deep_keys(std::string_view text, std::string_view file) {
  std::size_t dots = 0;
  for (std::size_t at = 0; at < text.size();) {
    const char letter = text[at];
    if (letter == '"' || letter == '\'') {
      at = end_of_string(text, at);
      continue;
    }
    if (letter == '#') {
      at = std::min(text.find('\n', at), text.size());
      continue;
    }
    if (std::string_view("=,[]{}\n").find(letter) != std::string_view::npos) dots = 0;
    if (letter == '.' && ++dots > most_dots)
      throw ConfigError(
          fmt::format("{}:{}: a key of more than {} parts", file, line_of(text, at), most_dots + 1));
    ++at;
  }
}

/// The line at which a text violates an assertion of toml++: the smallest number of lines that does, found by
/// bisection.
std::size_t line_that_breaks(std::string_view text) {
  std::vector<std::size_t> ends;
  for (std::size_t end = text.find('\n'); end != text.npos; end = text.find('\n', end)) ends.push_back(++end);
  const auto breaks = [&](std::size_t end) {
    try {
      [[maybe_unused]] const auto parsed = toml::parse(text.substr(0, end));
    } catch (const BrokenAssumption&) {
      return true;
    } catch (const toml::parse_error&) {
    }
    return false;
  };
  return 1 + static_cast<std::size_t>(std::ranges::partition_point(ends, std::not_fn(breaks)) - ends.begin());
}

TomlNode node_of(const toml::node& from) {
  TomlNode node{.value = {}, .line = static_cast<std::uint32_t>(from.source().begin.line)};
  if (const auto* text = from.as_string()) {
    node.value = text->get();
  } else if (const auto* whole = from.as_integer()) {
    node.value = whole->get();
  } else if (const auto* number = from.as_floating_point()) {
    node.value = number->get();
  } else if (const auto* truth = from.as_boolean()) {
    node.value = truth->get();
  } else if (const auto* array = from.as_array()) {
    TomlNode::List list;
    for (const toml::node& one : *array) list.push_back(node_of(one));
    node.value = std::move(list);
  } else if (const auto* table = from.as_table()) {
    TomlNode::Table entries;
    for (const auto& [key, one] : *table) entries.push_back({std::string(key.str()), node_of(one)});
    // toml++ sorts by key; messages should follow the order of the file.
    std::ranges::stable_sort(entries, {}, [](const auto& entry) { return entry.node.line; });
    node.value = std::move(entries);
  }
  return node;
}

}  // namespace

const TomlNode* TomlNode::find(std::string_view key) const noexcept {
  const auto* table = as<Table>();
  if (table == nullptr) return nullptr;
  const auto found = std::ranges::find(*table, key, &TomlNode::Entry::key);
  return found == table->end() ? nullptr : &found->node;
}

TomlNode parse_toml(std::string_view text, std::string_view file) {
  refuse_deep_keys(text, file);
  try {
    return node_of(toml::parse(text, file));
  } catch (const BrokenAssumption&) {
    throw ConfigError(fmt::format("{}:{}: not TOML: a key or a value is missing, or a bracket is too many",
                                  file, line_that_breaks(text)));
  } catch (const toml::parse_error& error) {
    throw ConfigError(
        fmt::format("{}:{}: not TOML: {}", file, error.source().begin.line, error.description()));
  }
}

}  // namespace fairlead::config
