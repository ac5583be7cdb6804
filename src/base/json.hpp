// A JSON value to be written. nlohmann's header is heavy and included in json.cpp only.
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
  Json(double value) : value_(value) {}  ///< written as null if it is not finite: JSON has no such numbers
  Json(std::string value) : value_(std::move(value)) {}
  Json(std::string_view value) : value_(std::string(value)) {}
  Json(const char* value) : value_(std::string(value)) {}

  /// Members stay in the order in which they were added.
  static Json object(std::initializer_list<Member> members = {});
  static Json array(std::vector<Json> elements = {});

  /// Of an object: adds a member. Of an array: an element.
  void add(std::string name, Json value);
  void add(Json value);

  /// Indented by two blanks, with a newline at the end. Bytes that are not UTF-8 are replaced.
  std::string text() const;

 private:
  friend struct JsonWriter;
  std::variant<NoValue, bool, std::int64_t, std::uint64_t, double, std::string, std::vector<Json>,
               std::vector<Member>>
      value_;
};

}  // namespace fairlead
