// A JSON value for output. nlohmann's header compiles slowly and is included in json.cpp only.
#pragma once
#include <fairlead/no_value.hpp>

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace fairlead {

class Json {
 public:
  using Member = std::pair<std::string, Json>;

  Json() = default;  ///< null
  Json(bool value) : value_(value) {}
  template <std::unsigned_integral Number>
  Json(Number value) : value_(static_cast<std::uint64_t>(value)) {}
  template <std::signed_integral Number>
  Json(Number value) : value_(static_cast<std::int64_t>(value)) {}
  Json(double value) : value_(value) {}  ///< null if not finite: JSON has no such numbers
  Json(std::string value) : value_(std::move(value)) {}
  Json(std::string_view value) : value_(std::string(value)) {}
  Json(const char* value) : value_(std::string(value)) {}

  /// Members keep their insertion order.
  static Json object(std::initializer_list<Member> members = {});
  static Json array(std::vector<Json> elements = {});

  /// Adds a member to an object, or an element to an array.
  void add(std::string name, Json value);
  void add(Json value);

  /// Indented by two spaces, with a newline at the end. Invalid UTF-8 is replaced.
  std::string text() const;

 private:
  friend struct JsonWriter;
  std::variant<NoValue, bool, std::int64_t, std::uint64_t, double, std::string, std::vector<Json>,
               std::vector<Member>>
      value_;
};

}  // namespace fairlead
