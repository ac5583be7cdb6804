// A JSON value. nlohmann's header compiles slowly and is included in json.cpp only.
#pragma once
#include <fairlead/no_value.hpp>

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <optional>
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

  /// The value that the text describes; nothing if it is malformed or has more than 64 levels.
  static std::optional<Json> parse(std::string_view text);

  /// The member of that name; null if there is none, or if this is not an object.
  const Json* find(std::string_view name) const noexcept;
  /// The value as one of the types; nothing if it has another one.
  const std::vector<Member>* members() const noexcept { return std::get_if<std::vector<Member>>(&value_); }
  const std::vector<Json>* elements() const noexcept { return std::get_if<std::vector<Json>>(&value_); }
  const std::string* string() const noexcept { return std::get_if<std::string>(&value_); }
  std::optional<double> number() const noexcept;
  std::optional<std::uint64_t> count() const noexcept;  ///< a whole number from 0
  bool is_null() const noexcept { return std::holds_alternative<NoValue>(value_); }

  /// Indented by two spaces, with a newline at the end. Invalid UTF-8 is replaced.
  std::string text() const;

 private:
  friend struct JsonConverter;
  std::variant<NoValue, bool, std::int64_t, std::uint64_t, double, std::string, std::vector<Json>,
               std::vector<Member>>
      value_;
};

}  // namespace fairlead
