// The integer types that globals have, and which numbers they hold: a number outside is an error where it meets the type, where C
// would make another number of it.
#pragma once
#include <optional>
#include <string>
#include <string_view>

#include "front/jdf/value.hpp"

namespace fairlead::jdf {

struct IntegerType {
  Value::Type type = Value::Type::int_;  ///< that C computes with
  unsigned bits = 32;
  bool is_signed = true;

  bool holds(const Value& value) const noexcept;
  /// "-2147483648 to 2147483647".
  std::string range() const;
};

/// Nothing for a type that is no integer type of C, or that only C knows. A global without a type is an int.
std::optional<IntegerType> integer_type(std::string_view type);

/// `value` as that type, a fraction cut off as in C; nothing if the type does not hold it.
std::optional<Value> as_integer(const Value& value, const IntegerType& type);

}  // namespace fairlead::jdf
