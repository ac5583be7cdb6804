// The one source file that includes toml++.
#include "config/toml.hpp"

#include <fmt/format.h>
#include <toml++/toml.h>
#include <fairlead/error.hpp>

#include <algorithm>

namespace fairlead::config {

namespace {

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
    // The library sorts by key; people expect their own order, above all of messages.
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
  try {
    return node_of(toml::parse(text, file));
  } catch (const toml::parse_error& error) {
    throw ConfigError(
        fmt::format("{}:{}: not TOML: {}", file, error.source().begin.line, error.description()));
  }
}

}  // namespace fairlead::config
