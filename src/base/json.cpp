// The one source file that includes nlohmann's JSON.
#include "base/json.hpp"

#include <nlohmann/json.hpp>
#include <type_traits>

namespace fairlead {

struct JsonWriter {
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
};

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
  return JsonWriter::convert(*this).dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace) +
         "\n";
}

}  // namespace fairlead
