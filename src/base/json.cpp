// The one source file that includes nlohmann's JSON.
#include "base/json.hpp"

#include <nlohmann/json.hpp>
#include <type_traits>

namespace fairlead {

struct JsonConverter {
  static nlohmann::ordered_json convert(const Json& json) {
    return std::visit(
        [](const auto& value) -> nlohmann::ordered_json {
          using Value = std::decay_t<decltype(value)>;
          if constexpr (std::is_same_v<Value, std::vector<Json>>) {
            auto array = nlohmann::ordered_json::array();
            for (const Json& element : value) array.push_back(convert(element));
            return array;
          } else if constexpr (std::is_same_v<Value, std::vector<Json::Member>>) {
            auto object = nlohmann::ordered_json::object();
            for (const auto& [name, member] : value) object[name] = convert(member);
            return object;
          } else if constexpr (std::is_same_v<Value, NoValue>) {
            return nullptr;
          } else {
            return value;
          }
        },
        json.value_);
  }

  static Json parsed(const nlohmann::ordered_json& from) {
    if (from.is_object()) {
      Json object = Json::object();
      for (const auto& [name, member] : from.items()) object.add(name, parsed(member));
      return object;
    }
    if (from.is_array()) {
      Json array = Json::array();
      for (const auto& element : from) array.add(parsed(element));
      return array;
    }
    if (from.is_string()) return from.get<std::string>();
    if (from.is_boolean()) return from.get<bool>();
    if (from.is_number_unsigned()) return from.get<std::uint64_t>();
    if (from.is_number_integer()) return from.get<std::int64_t>();
    if (from.is_number()) return from.get<double>();
    return {};
  }
};

std::optional<Json> Json::parse(std::string_view text) {
  constexpr int most_levels = 64;
  bool too_deep = false;
  const auto from = nlohmann::ordered_json::parse(
      text,
      [&](int depth, nlohmann::ordered_json::parse_event_t, nlohmann::ordered_json&) {
        too_deep |= depth > most_levels;
        return depth <= most_levels;
      },
      false);
  if (from.is_discarded() || too_deep) return std::nullopt;
  return JsonConverter::parsed(from);
}

const Json* Json::find(std::string_view name) const noexcept {
  if (const auto* const all = members())
    for (const auto& [its_name, value] : *all)
      if (its_name == name) return &value;
  return nullptr;
}

std::optional<double> Json::number() const noexcept {
  if (const auto* const value = std::get_if<double>(&value_)) return *value;
  if (const auto* const value = std::get_if<std::uint64_t>(&value_)) return static_cast<double>(*value);
  if (const auto* const value = std::get_if<std::int64_t>(&value_)) return static_cast<double>(*value);
  return std::nullopt;
}

std::optional<std::uint64_t> Json::count() const noexcept {
  const auto* const value = std::get_if<std::uint64_t>(&value_);
  return value == nullptr ? std::nullopt : std::optional(*value);
}

Json Json::object(std::initializer_list<Member> members) {
  Json json;
  json.value_ = std::vector<Member>(members);
  return json;
}

Json Json::array(std::vector<Json> elements) {
  Json json;
  json.value_ = std::move(elements);
  return json;
}

void Json::add(std::string name, Json value) {
  std::get<std::vector<Member>>(value_).emplace_back(std::move(name), std::move(value));
}

void Json::add(Json value) { std::get<std::vector<Json>>(value_).push_back(std::move(value)); }

std::string Json::text() const {
  return JsonConverter::convert(*this).dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace) +
         "\n";
}

}  // namespace fairlead
